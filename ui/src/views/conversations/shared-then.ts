import type { SessionChange, SessionStatus, SessionView, Timestamp } from "../../api/generated";
import { pretty, tokenize } from "../../parts/json";
import { microsBetween } from "../../parts/time";

/** What agents shared at a moment. */
export interface SharedThen {
  /** The last change until then; none before the first. */
  change: SessionChange | null;
  status: SessionStatus | null;
  /** The state as JSON, a member a line, with that change and without it. */
  text: string;
  before: string;
  /** Older changes are not kept any more, so something may be missing. */
  whole: boolean;
}

export function sharedAt(session: SessionView, at: Timestamp): SharedThen {
  const count = session.changes.filter((change) => microsBetween(change.at, at) >= 0).length;
  const change = session.changes[count - 1] ?? null;
  const status = session.changes.slice(0, count).findLast((each) => each.status !== null)?.status;
  return {
    change,
    status: status ?? null,
    text: formatted(stateAfter(session, count)),
    before: formatted(stateAfter(session, Math.max(count - 1, 0))),
    whole: (session.changes[0]?.version ?? 1) <= 1,
  };
}

/** The members after so many of the changes, in the order in which they were first written. */
function stateAfter({ changes, sharedStateText }: SessionView, count: number): Map<string, string> {
  const now = members(sharedStateText);
  const later = new Set(changes.slice(count).flatMap(({ written }) => Object.keys(written)));
  const state = new Map<string, string>();
  // What nobody wrote as far as is known was there before.
  const known = new Set(changes.flatMap(({ written }) => Object.keys(written)));
  for (const [key, text] of now) if (!known.has(key)) state.set(key, text);
  for (const { written } of changes.slice(0, count)) {
    for (const [key, value] of Object.entries(written)) {
      // As it was written, where that is still known to the letter.
      const text = later.has(key) ? undefined : now.get(key);
      state.set(key, text ?? JSON.stringify(value));
    }
  }
  return state;
}

function formatted(state: ReadonlyMap<string, string>): string {
  const all = [...state].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",");
  return pretty(`{${all}}`)
    .map((token) => token.text)
    .join("");
}

/** The members of an object, each value as it is written; none if it is no object. */
export function members(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let key: string | null = null;
  let value = "";
  const finish = () => {
    if (key !== null) found.set(key, value.trim());
    key = null;
    value = "";
  };
  for (const token of tokenize(text)) {
    const closes = token.kind === "mark" && (token.text === "}" || token.text === "]");
    if (closes) depth--;
    if (depth === 1 && token.kind === "mark" && token.text === ",") finish();
    else if (depth === 0 && closes) finish();
    else if (depth === 1 && key === null && token.kind === "key")
      key = JSON.parse(token.text) as string;
    else if (depth >= 1 && key !== null && !(depth === 1 && token.text === ":" && value === ""))
      value += token.text;
    if (token.kind === "mark" && (token.text === "{" || token.text === "[")) depth++;
  }
  return found;
}
