/**
 * Lets the browser ask before the page is closed or read anew while something would be lost with it.
 * Without anything to lose nobody is asked. Returns how to stop.
 */
export function askBeforeLeaving(wouldBeLost: () => boolean): () => void {
  const leaving = (event: BeforeUnloadEvent) => {
    if (wouldBeLost()) event.preventDefault();
  };
  window.addEventListener("beforeunload", leaving);
  return () => window.removeEventListener("beforeunload", leaving);
}
