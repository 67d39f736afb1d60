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
  close(): Promise<void>;
}

export const row = (...words: string[]): Look => ({
  css: "[role=grid] [role=rowgroup] [role=row]",
  words,
});
export const link = (screen: "flow" | "agents"): Look => ({ css: `nav a[href$="#/${screen}"]` });
export const heading = (...words: string[]): Look => ({ css: "h1", words });
export const payload: Look = { css: '[aria-label="Payload"]' };
export const listening: Look = { css: '[aria-label="Connection"]', words: ["listening"] };
