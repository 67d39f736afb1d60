import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { Child, endpoint, program } from "./program";
import type { Look, Screen } from "./screen";
import type { Stage } from "./story";

const CHROMIUM =
  process.env.CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** A page in Chromium. */
export class BrowserPage implements Screen {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async sees(look: Look): Promise<string> {
    return this.#find(look).innerText();
  }

  click(look: Look): Promise<void> {
    return this.#find(look).click();
  }

  misses(look: Look): Promise<void> {
    return this.#find(look).waitFor({ state: "hidden" });
  }

  write(look: Look, text: string): Promise<void> {
    return this.#find(look).fill(text);
  }

  async choose(look: Look, value: string): Promise<void> {
    await this.#find(look).selectOption(value);
  }

  run<T>(expression: string): Promise<T> {
    return this.page.evaluate<T>(expression);
  }

  /** They are dismissed and told of as they come. */
  hasDialog(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async picture(file: string): Promise<void> {
    await this.page.screenshot({ path: file });
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  #find({ css, words = [] }: Look) {
    return words
      .reduce((found, word) => found.filter({ hasText: word }), this.page.locator(css))
      .filter({ visible: true })
      .first();
  }
}

export function startChromium(args: string[] = []): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error("there is no Chromium here: set CHROMIUM");
  return chromium.launch({
    args,
    executablePath: CHROMIUM,
    // Chromium's own sandbox does not work as root, which many containers are.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}

/** Starts switchboardd on this folder and opens the console it prints. */
export async function openBrowser(
  browser: Browser,
  dataDir: string,
  ...args: string[]
): Promise<Stage & { screen: BrowserPage; consoleUrl: string }> {
  const broker = new Child(program("switchboardd"), [
    "--data-dir",
    dataDir,
    "--listen",
    "127.0.0.1:0",
    ...args,
  ]);
  const [, consoleUrl = ""] = await broker.printed(/console at (\S+)/);
  const screen = await newPage(browser, consoleUrl);
  const close = async () => {
    await screen.close();
    const code = await broker.stop();
    if (code !== 0) throw new Error(`switchboardd ended with ${String(code)}`);
  };
  return { endpoint: await endpoint(dataDir), screen, consoleUrl, close };
}

export async function newPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<BrowserPage> {
  const viewport = { width: 1440, height: 900 };
  const context = await browser.newContext({ viewport, locale: "en-GB", ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  await page.goto(url);
  return new BrowserPage(page);
}
