import { recall, remember } from "./remembered";

export const TEXT_SIZES = [80, 90, 100, 110, 125, 150, 175, 200] as const;
/** Below this many pixels of its own the page shows one thing at a time. */
const NARROW_PX = 900;
export type TextSize = (typeof TEXT_SIZES)[number];
export type Density = "compact" | "roomy";
export type Motion = "system" | "less";

/** How the console looks to this operator on this machine, beside its colours. */
export class Appearance {
  /** In percent. */
  textSize = $state<TextSize>(readSize());
  density = $state<Density>(recall("density") === "roomy" ? "roomy" : "compact");
  motion = $state<Motion>(recall("motion") === "less" ? "less" : "system");
  /** How wide the window is for text of this size. */
  #width = $state(1_440);
  /** There is so little room that one thing at a time is shown; the style sheets say the same. */
  narrow = $derived(this.#width / (this.textSize / 100) < NARROW_PX);

  readonly #rules = new Map<CSSMediaRule, string>();

  /** Follows the window and the operator from now on. Returns how to stop. */
  start(page: Window = window): () => void {
    const measure = () => (this.#width = page.innerWidth);
    measure();
    page.addEventListener("resize", measure);
    this.#apply(page);
    // Screens that are loaded when they are wanted bring style sheets of their own.
    const sheets = new MutationObserver(() => this.#scaleRules(page.document));
    sheets.observe(page.document.head, { childList: true });
    const loaded = (event: Event) => {
      if (event.target instanceof HTMLLinkElement) this.#scaleRules(page.document);
    };
    page.document.addEventListener("load", loaded, true);
    return () => {
      page.removeEventListener("resize", measure);
      sheets.disconnect();
      page.document.removeEventListener("load", loaded, true);
    };
  }

  chooseSize(size: TextSize): void {
    this.textSize = size;
    remember("text-size", String(size));
    this.#apply(window);
  }

  /** The next larger or smaller size, if there is one. */
  stepSize(by: 1 | -1): void {
    const next = TEXT_SIZES[TEXT_SIZES.indexOf(this.textSize) + by];
    if (next !== undefined) this.chooseSize(next);
  }

  chooseDensity(density: Density): void {
    this.density = density;
    remember("density", density);
    this.#apply(window);
  }

  chooseMotion(motion: Motion): void {
    this.motion = motion;
    remember("motion", motion);
    this.#apply(window);
  }

  #apply({ document }: Window): void {
    const root = document.documentElement;
    root.style.setProperty("--scale", String(this.textSize / 100));
    root.toggleAttribute("data-scaled", this.textSize !== 100);
    root.dataset.density = this.density;
    root.dataset.motion = this.motion;
    this.#scaleRules(document);
  }

  /** Style sheets ask for the width of the window, but mean the room that there is for text. */
  #scaleRules(document: Document): void {
    const scale = this.textSize / 100;
    if (scale === 1 && this.#rules.size === 0) return;
    for (const rule of mediaRules(document)) {
      const written = this.#rules.get(rule) ?? rule.media.mediaText;
      this.#rules.set(rule, written);
      rule.media.mediaText = scaled(written, scale);
    }
  }
}

/** A condition on widths and heights, for text that is so much larger. */
export function scaled(condition: string, scale: number): string {
  return condition.replace(
    /(\d+(?:\.\d+)?)px/g,
    (_, n: string) => `${String(Number(n) * scale)}px`,
  );
}

function mediaRules(document: Document): CSSMediaRule[] {
  return [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules].filter((rule) => rule instanceof CSSMediaRule);
    } catch {
      // Not one of ours.
      return [];
    }
  });
}

function readSize(): TextSize {
  const kept = Number(recall("text-size"));
  return TEXT_SIZES.find((size) => size === kept) ?? 100;
}
