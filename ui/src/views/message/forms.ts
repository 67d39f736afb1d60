import type { MessageForm } from "../../api/generated";
import { doorName } from "../words";

/** One of a message's forms, with what it is called. */
export interface NamedForm {
  name: string;
  /** In little room: `in · lobby`. */
  title: string;
  /** In a sentence: “As it came in by the lobby door from shopper”. */
  words: string;
  text: string;
}

/**
 * Names each form of a message. They come in order: as it came in, as it went out to each recipient, and
 * then its answer, which begins with the second that came in.
 */
export function nameForms(forms: readonly MessageForm[]): NamedForm[] {
  let answer = false;
  return forms.map(({ door, direction, agent, text }, i) => {
    if (i > 0 && direction === "in") answer = true;
    const what = answer ? "Its answer as it" : "As it";
    const way =
      direction === "in"
        ? `came in by the ${doorName[door]} door from ${agent}`
        : `went out by the ${doorName[door]} door to ${agent}`;
    const title = `${answer ? "answer " : ""}${direction} · ${doorName[door]}`;
    return { name: String(i), title, words: `${what} ${way}`, text };
  });
}
