const KEY = "switchboard.token";
const IN_ADDRESS = /(?:^#|&)token=([^&]+)/;

/**
 * The admin token of this tab. One that came in the address is kept for the tab and removed from the
 * address bar, so that it ends up neither in the history nor in a screenshot.
 */
export function takeToken(
  page: Pick<Window, "location" | "history" | "sessionStorage">,
): string | null {
  const found = IN_ADDRESS.exec(page.location.hash)?.[1];
  if (found !== undefined) {
    page.sessionStorage.setItem(KEY, decodeURIComponent(found));
    page.history.replaceState(null, "", page.location.pathname + page.location.search);
  }
  return page.sessionStorage.getItem(KEY);
}

/** Whether this tab has a token. The page that asks for one then knows that it was refused. */
export function hasToken(storage: Storage = window.sessionStorage): boolean {
  return storage.getItem(KEY) !== null;
}

/** Keeps a token the operator pasted: the token itself, or the whole link that contains it. */
export function keepToken(pasted: string, storage: Storage = window.sessionStorage): void {
  const link = /[#&]token=([^&\s]+)/.exec(pasted)?.[1];
  storage.setItem(KEY, link === undefined ? pasted.trim() : decodeURIComponent(link));
}
