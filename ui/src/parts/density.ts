/** How high a row of a long table is: as the reader likes it. */
export function rowHeight(): number {
  return document.documentElement.dataset.density === "roomy" ? 36 : 29;
}
