import type uPlot from "uplot";

let loaded: Promise<typeof uPlot> | undefined;

/** The library that draws charts, fetched when the first one is wanted. */
export function loadCharts(): Promise<typeof uPlot> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<typeof uPlot> {
  const restore = speakKnownLanguage();
  try {
    return (await import("uplot")).default;
  } finally {
    restore();
  }
}

/** The library formats a number when it is read in, and in a C locale the language is one that nobody
 *  can format for. */
function speakKnownLanguage(): () => void {
  if (/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(navigator.language)) return () => undefined;
  Object.defineProperty(navigator, "language", { get: () => "en-US", configurable: true });
  return () => void Reflect.deleteProperty(navigator, "language");
}
