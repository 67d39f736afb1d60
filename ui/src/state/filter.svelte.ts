import type { MessageFilter } from "../api/generated";
import { debounce } from "../parts/throttle";
import { cut, parts, toFilter, written, type Part } from "./query";

const TYPING_MS = 120;

/** The filter of the Flow screen: finished parts as chips, and what is being typed after them. */
export class Filter {
  chips = $state.raw<readonly Part[]>([]);
  draft = $state("");
  /** Parts that are being typed and cannot be used as they are. */
  problems = $derived(parts(this.draft).filter((part) => part.problem !== null));
  /** All of it that can be used, as one would type it. */
  text = $derived(
    [...this.chips, ...parts(this.draft)]
      .filter((part) => part.problem === null)
      .map(written)
      .join(" "),
  );

  readonly #ask: (filter: MessageFilter) => void;
  readonly #typing = debounce(() => this.#apply(), TYPING_MS);
  #asked = "";

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
    const { done, rest } = cut(text);
    const finished = parts(done);
    const chips = finished.filter((part) => part.key !== null && part.problem === null);
    if (chips.length === 0) this.draft = text;
    else {
      this.#addChips(chips);
      // The space after the last word stays: what is typed next is another.
      this.draft = [...finished.filter((part) => !chips.includes(part)).map(written), rest].join(
        " ",
      );
    }
    this.#typing.ask();
  }

  /** Enter: everything that can become a chip does, and the question is asked at once. */
  commit(): void {
    this.type(`${this.draft} `);
    this.draft = this.draft.trim();
    this.#apply();
  }

  /** This and nothing else, as it was saved or stands in an address. */
  read(text: string): void {
    const all = parts(text);
    const chips = all.filter((part) => part.key !== null && part.problem === null);
    this.chips = [];
    this.#addChips(chips);
    this.draft = all
      .filter((part) => !chips.includes(part))
      .map(written)
      .join(" ");
    this.#apply();
  }

  /** Shows only this. A part of the same key is replaced. */
  narrow(...wishes: readonly Pick<Part, "key" | "value">[]): void {
    this.#addChips(wishes.map((part) => ({ ...part, problem: null })));
    this.#apply();
  }

  /** Whether all of this is looked for. */
  has(wishes: readonly Pick<Part, "key" | "value">[]): boolean {
    return wishes.length > 0 && wishes.every((wish) => this.chips.some((chip) => same(chip, wish)));
  }

  /** Shows only this; if that is so already, no longer. */
  toggle(wishes: readonly Pick<Part, "key" | "value">[]): void {
    if (!this.has(wishes)) return this.narrow(...wishes);
    this.chips = this.chips.filter((chip) => !wishes.some((wish) => same(chip, wish)));
    this.#apply();
  }

  remove(chip: Part): void {
    this.chips = this.chips.filter((each) => each !== chip);
    this.#apply();
  }

  /** Takes a chip back into the text, to be changed. What was typed there stays before it. */
  edit(chip: Part): void {
    if (!this.chips.includes(chip)) return;
    this.chips = this.chips.filter((each) => each !== chip);
    this.draft = [this.draft.trim(), written(chip)].filter((text) => text !== "").join(" ");
    this.#typing.ask();
  }

  /** The last chip, to be changed. */
  reopenLast(): void {
    const last = this.chips.at(-1);
    if (last !== undefined) this.edit(last);
  }

  clear(): void {
    this.chips = [];
    this.draft = "";
    this.#apply();
  }

  #addChips(added: readonly Part[]): void {
    const last = added.filter(
      (each, i) => !added.slice(i + 1).some((later) => later.key === each.key),
    );
    // In the place of the one it replaces: what is changed must not jump.
    const kept = this.chips.map((chip) => last.find((each) => each.key === chip.key) ?? chip);
    this.chips = [...kept, ...last.filter((each) => !kept.includes(each))];
  }

  #apply(): void {
    this.#typing.stop();
    if (this.text === this.#asked) return;
    this.#asked = this.text;
    this.#ask(this.current);
  }
}

function same(a: Pick<Part, "key" | "value">, b: Pick<Part, "key" | "value">): boolean {
  return a.key === b.key && a.value === b.value;
}
