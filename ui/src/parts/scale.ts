/**
 * By how much the page is scaled for its reader. What the window measures (`getBoundingClientRect`, the
 * place of a pointer) divided by this is in the pixels that style sheets and scrollers count in.
 */
export function scale(): number {
  const set = Number(document.documentElement.style.getPropertyValue("--scale"));
  return set > 0 ? set : 1;
}
