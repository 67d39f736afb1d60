/** Whether nothing should move that need not: the system says so, or the reader did. */
export function still(): boolean {
  return (
    document.documentElement.dataset.motion === "less" ||
    window.matchMedia("(prefers-reduced-motion: reduce)").matches
  );
}
