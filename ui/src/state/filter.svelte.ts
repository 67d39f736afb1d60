import type { MessageFilter } from "../api/generated";
import { debounce } from "../parts/throttle";
import { parts, toFilter, written, type Part } from "./query";

const TYPING_MS = 120;

/** The filter of the Flow screen: finished parts as chips, and what is being typed after them. */
export class Filter {
  chips = $state.raw<readonly Part[]>([]);
  draft = $state("");
  /** Parts that are being typed and cannot be used as they are. */
  problems = $derived(parts(this.draft).filter((part) => part.problem !== null));

  readonly #ask: (filter: MessageFilter) => void;
  readonly #typing = debounce(() => this.#apply(), TYPING_MS);
  #asked = "{}";

  /** `ask` is called with every new question. */
  constructor(ask: (filter: MessageFilter) => void) {
    this.#ask = ask;
  }

  get active(): boolean {
    return this.chips.length > 0 || this.draft.trim() !== "";
  }

  /** The question as it stands. */
  get current(): MessageFilter {
    return toFilter([...this.chips, ...parts(this.draft)]);
  }

  /** Something was typed. Parts that are finished, with a space after them, become chips. */
  type(text: string): void {
    const cut = text.search(/\S*$/);
    const done = parts(text.slice(0, cut)).filter(
      (part) => part.key !== null && part.problem === null,
    );
    if (done.length === 0) this.draft = text;
    else {
      this.#addChips(done);
      const rest = parts(text.slice(0, cut)).filter(
        (part) => !done.some((each) => same(each, part)),
      );
      // The space after the last word stays: what is typed next is another.
      this.draft = [...rest.map(written), text.slice(cut)].join(" ");
    }
    this.#typing.ask();
  }

  /** Enter: everything that can become a chip does, and the question is asked at once. */
  commit(): void {
    this.type(`${this.draft} `);
    this.draft = this.draft.trim();
    this.#apply();
  }

  /** Shows only this. A part of the same key is replaced. */
  narrow(part: Pick<Part, "key" | "value">): void {
    this.#addChips([{ ...part, problem: null }]);
    this.#apply();
  }

  remove(chip: Part): void {
    this.chips = this.chips.filter((each) => each !== chip);
    this.#apply();
  }

  /** Takes the last chip back into the text, to be changed. */
  reopenLast(): void {
    const last = this.chips.at(-1);
    if (last === undefined) return;
    this.chips = this.chips.slice(0, -1);
    this.draft = written(last);
    this.#typing.ask();
  }

  clear(): void {
    this.chips = [];
    this.draft = "";
    this.#apply();
  }

  #addChips(added: readonly Part[]): void {
    const kept = this.chips.filter((chip) => !added.some((each) => each.key === chip.key));
    const last = added.filter(
      (each, i) => !added.slice(i + 1).some((later) => later.key === each.key),
    );
    this.chips = [...kept, ...last];
  }

  #apply(): void {
    this.#typing.stop();
    const filter = this.current;
    const text = JSON.stringify(filter);
    if (text === this.#asked) return;
    this.#asked = text;
    this.#ask(filter);
  }
}

function same(a: Part, b: Part): boolean {
  return a.key === b.key && a.value === b.value;
}
