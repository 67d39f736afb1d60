import { recall, remember } from "./remembered";

/** Which columns of a table are shown, and how wide: the operator's choice, remembered on this machine. */
export class ColumnChoice {
  widths = $state.raw<Readonly<Record<string, number>>>({});
  /** Whether a column is shown, where that differs from what it is at first. */
  shown = $state.raw<Readonly<Record<string, boolean>>>({});

  readonly #name: string;

  /** `name` tells this table from others. */
  constructor(name: string) {
    this.#name = name;
    const { widths, shown } = readChoice(recall(name));
    this.widths = widths;
    this.shown = shown;
  }

  get changed(): boolean {
    return Object.keys(this.widths).length > 0 || Object.keys(this.shown).length > 0;
  }

  isShown(column: string, atFirst: boolean): boolean {
    return this.shown[column] ?? atFirst;
  }

  show(column: string, shown: boolean): void {
    this.shown = { ...this.shown, [column]: shown };
    this.#keep();
  }

  /** Makes a column this wide; none for as it was at first. */
  resize(column: string, width: number | null): void {
    const others = Object.entries(this.widths).filter(([name]) => name !== column);
    this.widths = Object.fromEntries(width === null ? others : [...others, [column, width]]);
    this.#keep();
  }

  reset(): void {
    this.widths = {};
    this.shown = {};
    this.#keep();
  }

  #keep(): void {
    remember(this.#name, JSON.stringify({ widths: this.widths, shown: this.shown }));
  }
}

/** What was remembered, as far as it makes sense: anyone may have written there. */
function readChoice(text: string | null): {
  widths: Record<string, number>;
  shown: Record<string, boolean>;
} {
  try {
    const kept = JSON.parse(text ?? "{}") as { widths?: unknown; shown?: unknown };
    return {
      widths: only(kept.widths, (each) => typeof each === "number" && each >= 40 && each < 2_000),
      shown: only(kept.shown, (each) => typeof each === "boolean"),
    };
  } catch {
    return { widths: {}, shown: {} };
  }
}

function only<T>(value: unknown, fits: (each: unknown) => boolean): Record<string, T> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, each]) => fits(each)));
}
