import axe, { type AxeResults } from "axe-core";
import type { BrowserPage } from "./chromium";

/** How far the page can be scrolled to the side, which it should not. */
export function sideways(screen: BrowserPage): Promise<number> {
  const page = "document.documentElement";
  return screen.page.evaluate<number>(`${page}.scrollWidth - ${page}.clientWidth`);
}

/** What axe finds that would stop somebody from using the page. */
export async function obstacles(screen: BrowserPage): Promise<string[]> {
  await screen.page.evaluate(axe.source);
  const { violations } = await screen.page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary ?? ""}`),
    );
}
