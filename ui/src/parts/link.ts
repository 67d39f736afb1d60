/** What a link can lead to, by the word that stands in it. */
const KINDS = ["message", "agent", "conversation", "dead-letter", "screen"] as const;

/** Where a link leads: one thing of the console, or a screen by its name. */
export interface Link {
  kind: (typeof KINDS)[number];
  id: string;
}

const SCHEME = "switchboard://";
/** Longer than any link of ours, percent signs included. */
const LONGEST = 2_048;
const LONGEST_ID = 512;
const FORM = /^([a-z-]+)\/([^/?#\s]+)\/?$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Reads `switchboard://message/ID` and, as it stands in an address, `#/message/ID`. Links come from
 * anywhere: whatever is not exactly one of ours is none.
 */
export function parseLink(text: string): Link | null {
  if (text.length > LONGEST) return null;
  const [, word = "", written = ""] = FORM.exec(withoutScheme(text) ?? "") ?? [];
  const kind = KINDS.find((each) => each === word);
  const id = decoded(written);
  if (kind === undefined || id === null) return null;
  return isIdOf(kind, id) ? { kind, id } : null;
}

/** Whether an address looks like one of these links, readable or not. */
export function looksLikeLink(hash: string): boolean {
  return KINDS.some((kind) => hash === `#/${kind}` || hash.startsWith(`#/${kind}/`));
}

/** The link as it is written. */
export function linkText({ kind, id }: Link): string {
  return `${SCHEME}${kind}/${encodeURIComponent(id)}`;
}

/**
 * A link that can be copied: in the desktop app one that opens it, in a browser the page's own
 * address. It never carries the operator's token.
 */
export function linkTo(kind: Link["kind"], id: string, page: Window = window): string {
  const text = linkText({ kind, id });
  if ("__TAURI_INTERNALS__" in page) return text;
  const { origin, pathname } = page.location;
  return `${origin}${pathname}#/${text.slice(SCHEME.length)}`;
}

function withoutScheme(text: string): string | null {
  if (text.startsWith("#/")) return text.slice(2);
  // Whoever hands a link over may have changed its letters: a scheme has no case.
  const scheme = text.slice(0, SCHEME.length).toLowerCase();
  return scheme === SCHEME ? text.slice(SCHEME.length) : null;
}

function decoded(written: string): string | null {
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}

function isIdOf(kind: Link["kind"], id: string): boolean {
  if (id === "" || id.length > LONGEST_ID || /\p{C}/u.test(id)) return false;
  return kind === "message" || kind === "dead-letter" ? UUID.test(id) : true;
}
