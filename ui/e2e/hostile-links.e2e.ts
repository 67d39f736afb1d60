import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "vitest";
import { chance, changed, tried } from "../src/testing/links";
import { Proof, full } from "./proof";

const CORPUS = path.join(import.meta.dirname, "../../fuzz/corpus/link");
/** As often as libFuzzer runs the parsers that are written in Rust. */
const CASES = full ? 10_000_000 : 100_000;
/** The longest that one may take, in milliseconds. */
const LONGEST = 100;

/** How long it takes, by the best of a few times: the machine may have been busy with something else. */
function took(text: string): number {
  const once = () => {
    const began = performance.now();
    tried(text);
    return performance.now() - began;
  };
  return Math.min(once(), once(), once());
}

test("links that lead into the console", { timeout: 3_600_000 }, async () => {
  const files = await readdir(CORPUS);
  const corpus = await Promise.all(files.map((file) => readFile(path.join(CORPUS, file), "utf8")));
  const proof = new Proof(
    10,
    "fuzzing-link",
    "no link that leads into the console breaks its parser, and none takes it longer than 100 ms",
    "a corpus that every test run tries too, and changes of it that chance chose",
  );
  const below = chance(11);
  let [links, slowest] = [0, 0];
  for (let n = 0; n < corpus.length + CASES; n++) {
    const text = corpus[n] ?? changed(corpus, below);
    const began = performance.now();
    const { holds, isLink } = tried(text);
    let millis = performance.now() - began;
    if (millis > slowest) millis = Math.min(millis, took(text));
    slowest = Math.max(slowest, millis);
    if (isLink) links++;
    if (!holds || millis > LONGEST) proof.check(JSON.stringify(text), false);
  }
  proof.check("all have a corpus to begin with", corpus.length > 5 && links > corpus.length);
  await proof.close(
    `${String(corpus.length + CASES)} executions, 0 crashes, the slowest ${slowest.toFixed(1)} ms; ${String(links)} were links`,
  );
});
