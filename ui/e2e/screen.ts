/** An element, by CSS and the words it shows. */
export interface Look {
  css: string;
  words?: string[];
}

/** The console as a person meets it, in whatever shows it. Every act waits until it can be done. */
export interface Screen {
  /** Waits until such an element is visible; gives its text. */
  sees(look: Look): Promise<string>;
  click(look: Look): Promise<void>;
  /** Waits until no such element is visible. */
  misses(look: Look): Promise<void>;
  /** Writes into a field, in place of what is there. */
  write(look: Look, text: string): Promise<void>;
  /** Chooses from a list, by the value. */
  choose(look: Look, value: string): Promise<void>;
  /** The value of an expression in the page. */
  run<T>(expression: string): Promise<T>;
  /** Whether a dialog of the browser's own stands in the way. */
  hasDialog(): Promise<boolean>;
  /** Keeps what is shown in a PNG file. */
  picture(file: string): Promise<void>;
  close(): Promise<void>;
}

export const row = (...words: string[]): Look => ({
  css: "[role=grid] [role=rowgroup] [role=row]",
  words,
});
export const link = (
  screen:
    | "flow"
    | "overview"
    | "agents"
    | "conversations"
    | "permissions"
    | "dead-letters"
    | "discovery"
    | "settings",
): Look => ({ css: `nav a[href$="#/${screen}"]` });
export const button = (...words: string[]): Look => ({ css: "button", words });
export const inDialog = (css: string, ...words: string[]): Look => ({
  css: `[role=dialog] ${css}`,
  words,
});
/** A button in the panel, or in the bar about what is picked. */
export const inPanel = (...words: string[]): Look => ({ css: "aside button", words });
export const forPicked = (...words: string[]): Look => ({
  css: '[aria-label="Picked letters"] button',
  words,
});
export const panel = (...words: string[]): Look => ({ css: "aside", words });
export const heading = (...words: string[]): Look => ({ css: "h1", words });
export const payload: Look = { css: '[aria-label="Payload"]' };
export const listening: Look = { css: '[aria-label="Connection"]', words: ["listening"] };
/** A short sentence in the corner, and what can be done about it. */
export const notice = (...words: string[]): Look => ({ css: ".place p", words });
