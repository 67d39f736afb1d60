import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser, startChromium } from "./chromium";
import { tryEverything } from "./hostile-page";
import { tellOfHostileWords } from "./hostile-words";
import { Child, dataFolder, endpoint, program } from "./program";
import { Proof } from "./proof";

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium([
    // Names that lead to this machine, as they do when somebody points their own name at it.
    "--host-resolver-rules=MAP *.example 127.0.0.1",
    // Newer browsers keep pages from what is on this machine by themselves. Others do not.
    "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
  ]);
});
afterAll(() => browser.close());

describe("hostile words in Chromium", () => {
  tellOfHostileWords("chromium", (dir) => openBrowser(browser, dir));
});

describe("a hostile page in Chromium", () => {
  let data: Awaited<ReturnType<typeof dataFolder>>;
  let broker: Child;
  let address: string;
  let server: Server;
  let elsewhere: number;

  beforeAll(async () => {
    data = await dataFolder();
    // What it hears of other Switchboards on this machine is not the page's doing.
    await writeFile(path.join(data.dir, "switchboard.toml"), "[discovery]\nmdns = false\n");
    broker = new Child(program("switchboardd"), [
      "--data-dir",
      data.dir,
      "--listen",
      "127.0.0.1:0",
    ]);
    address = new URL((await endpoint(data.dir)).url).host;
    server = createServer((request, response) => {
      const to = request.url?.split("?")[1];
      if (request.url?.startsWith("/to?") === true && to !== undefined)
        response.writeHead(307, { Location: to, "Access-Control-Allow-Origin": "*" }).end();
      else response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><body>");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    elsewhere = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    expect(await broker.stop()).toBe(0);
    await data.remove();
  });

  const call = async (method: string, params: object = {}): Promise<unknown> => {
    const token = (await readFile(path.join(data.dir, "admin-token"), "utf8")).trim();
    const answer = await fetch(`http://${address}/console/call`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ method, params }),
    });
    return answer.json();
  };

  test("reaches nothing, whatever it tries", { timeout: 300_000 }, async () => {
    const port = address.split(":")[1] ?? "";
    const known = async () => {
      const { agents } = (await call("agents")) as { agents: { id: string }[] };
      const announced = (await call("discovery")) as { agents: unknown[]; turnedAway: unknown[] };
      return [agents.map(({ id }) => id), announced.agents, announced.turnedAway];
    };
    const before = JSON.stringify(await known());
    const proof = new Proof(
      13,
      "hostile-page",
      "a web page on another origin, or under a name that leads to this machine, reaches nothing",
      "fetch, WebSocket, EventSource, forms, beacons, pings, frames, pictures, scripts, styles, workers and redirects " +
        "of a real page in Chromium, from 4 origins, to every name of the port; every answer of the broker is counted",
    );
    const own = `http://127.0.0.1:${String(elsewhere)}`;
    const pages: [string, string][] = [
      ["another port", own],
      ["another name", `http://evil.example:${String(elsewhere)}`],
      ["localhost", `http://localhost:${String(elsewhere)}`],
      // The name first led to the page's own server, and now leads here: the browser takes us for the page's origin.
      ["a rebound name", `http://rebound.example:${port}`],
    ];
    let requests = 0;
    for (const [kind, origin] of pages) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const answers = await watch(page, port);
      const body = "<!doctype html><title>hostile</title><body>";
      await page.route(`${origin}/`, (route) => route.fulfill({ contentType: "text/html", body }));
      await page.goto(`${origin}/`);
      await page.unroute(`${origin}/`);
      const targets = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
      if (kind === "a rebound name") targets.push(origin);
      const reached = await page.evaluate(
        `${names}(${tryEverything.toString()})(${JSON.stringify(targets)}, ${JSON.stringify(own)})`,
      );
      proof.check(`from ${kind}: ${JSON.stringify(reached)}`, (reached as string[]).length === 0);
      expect(answers.length, "the page did not even try").toBeGreaterThan(100);
      for (const { url, status } of answers)
        proof.check(`${kind}: ${url}: ${String(status)}`, status === 403);
      requests += answers.length;
      await context.close();
    }
    // Our own page reaches it, by the same means: what turned the others away was who they are.
    const page = await browser.newPage();
    const answers = await watch(page, port);
    await page.goto(`http://${address}/console/`);
    const health = await page.evaluate("fetch('/healthz').then((answer) => answer.text())");
    proof.check("our own page", health === "ok\n" && answers.every(({ status }) => status !== 403));
    await page.close();
    const after = JSON.stringify(await known());
    proof.check(`${before} has become ${after}`, after === before);
    const messages = (await call("messages", { filter: {}, limit: 10 })) as { rows: unknown[] };
    proof.check("nothing was sent", messages.rows.length === 0);
    await proof.close(`0 of ${String(requests)} requests of ${String(pages.length)} pages passed`);
  });
});

/** What compiled functions call that names others; the page has no such thing. */
const names = "globalThis.__name = (one) => one; globalThis.__vite_ssr_import_0__ = {};\n";

interface Answered {
  url: string;
  status: number;
}

/** Everything that the broker answers to this page and what belongs to it. */
async function watch(page: Page, port: string): Promise<Answered[]> {
  const answers: Answered[] = [];
  const ours = (url: string) => new URL(url).port === port;
  page.on("response", (response) => {
    // The page itself came from its own server.
    if (response.request().isNavigationRequest() && response.frame() === page.mainFrame()) return;
    if (ours(response.url())) answers.push({ url: response.url(), status: response.status() });
  });
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const sockets = new Map<string, string>();
  session.on("Network.webSocketCreated", ({ requestId, url }) => sockets.set(requestId, url));
  session.on("Network.webSocketHandshakeResponseReceived", ({ requestId, response }) => {
    const url = sockets.get(requestId) ?? "";
    if (ours(url)) answers.push({ url, status: response.status });
  });
  return answers;
}
