import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { remote, type Browser } from "webdriverio";
import { Child, endpoint, program, stopped } from "./program";
import type { Look, Screen } from "./screen";
import type { Stage } from "./story";
import { until } from "./until";

/** The driver for the window, at a port of its own so that several can run on one machine. */
const DRIVER_PORT = 20_000 + (process.pid % 20_000);

/** The desktop app's window, by way of tauri-driver and WebKitWebDriver. */
export class DesktopWindow implements Screen {
  readonly browser: Browser;

  constructor(browser: Browser) {
    this.browser = browser;
  }

  async sees(look: Look): Promise<string> {
    return this.browser.execute(textOf, await this.#find(look));
  }

  async click(look: Look): Promise<void> {
    // Rows are recycled: what was found may show something else by the time it is clicked.
    await until(`a click on ${JSON.stringify(look)}`, async () => {
      await this.browser.$(await this.#find(look)).click();
      return true;
    });
  }

  async misses(look: Look): Promise<void> {
    const { css, words = [] } = look;
    await until(
      `the end of ${JSON.stringify(look)}`,
      async () => (await this.browser.execute(visible, css, words)) === null || undefined,
    );
  }

  async write(look: Look, text: string): Promise<void> {
    await this.browser.$(await this.#find(look)).setValue(text);
  }

  async choose(look: Look, value: string): Promise<void> {
    await this.browser.$(await this.#find(look)).selectByAttribute("value", value);
  }

  run<T>(expression: string): Promise<T> {
    const answer = "const done = arguments[arguments.length - 1];";
    return this.browser.executeAsync<T, []>(
      `${answer} Promise.resolve(${expression}).then(done, (error) => done(String(error)));`,
    );
  }

  /** While one is open the driver refuses everything else, so nothing passes over it. */
  hasDialog(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async picture(file: string): Promise<void> {
    await this.browser.saveScreenshot(file);
  }

  close(): Promise<void> {
    return this.browser.deleteSession();
  }

  async #find({ css, words = [] }: Look): Promise<WebdriverIO.Element> {
    try {
      return await until(
        `${css} with ${words.join(", ")}`,
        async () => (await this.browser.execute(visible, css, words)) ?? undefined,
      );
    } catch (cause) {
      const there = await this.browser.execute(texts, css);
      throw new Error(`${String(cause)}; there was ${JSON.stringify(there)}`, { cause });
    }
  }
}

// These run in the page. The driver's own idea of what is displayed fails in nested scrollers.
const textOf = (element: Element) => (element as HTMLElement).innerText;

const texts = (css: string) =>
  [...document.querySelectorAll<HTMLElement>(css)].map((element) => element.innerText);

const visible = (css: string, words: string[]) =>
  [...document.querySelectorAll<HTMLElement>(css)].find((element) => {
    // Drawings have no inner text; what looks upper-case or stands on two lines need not be so.
    const text = element.innerText || (element.textContent ?? "");
    const plain = text.replace(/\s+/g, " ").toLowerCase();
    return element.checkVisibility() && words.every((word) => plain.includes(word.toLowerCase()));
  }) ?? null;

/** Starts the driver. Both it and the WebKitWebDriver it starts end with `stop`. */
export async function startDriver(): Promise<Child> {
  const nativePort = String(DRIVER_PORT + 1);
  const args = ["--port", String(DRIVER_PORT), "--native-port", nativePort];
  const driver = new Child("tauri-driver", args);
  await until("the driver", async () => {
    const status = await fetch(`http://127.0.0.1:${String(DRIVER_PORT)}/status`);
    return status.ok || undefined;
  });
  return driver;
}

/** Starts the app on this folder and takes hold of its window. */
export async function openDesktop(
  dataDir: string,
  ...args: string[]
): Promise<Stage & { screen: DesktopWindow }> {
  // Closing the window is answered beforehand: a native dialog is out of a web driver's reach.
  await mkdir(dataDir, { recursive: true });
  await writeFile(path.join(dataDir, "window.json"), '{"onClose":"quit"}');
  const browser = await remote({
    hostname: "127.0.0.1",
    port: DRIVER_PORT,
    logLevel: "error",
    capabilities: {
      "wdio:enforceWebDriverClassic": true,
      "tauri:options": {
        application: program("switchboard"),
        args: ["--data-dir", dataDir, "--listen", "127.0.0.1:0", ...args],
      },
    } as WebdriverIO.Capabilities,
  });
  const running = await endpoint(dataDir);
  const screen = new DesktopWindow(browser);
  const close = async () => {
    await stopped(running.pid);
    await screen.close().catch(() => undefined); // the driver may have noticed first
  };
  return { endpoint: running, screen, close };
}
