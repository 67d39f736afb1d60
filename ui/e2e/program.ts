import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { until } from "./until";

/** Where the built programs are; `./dev` says so. */
const BIN = process.env.SWITCHBOARD_BIN ?? path.resolve(import.meta.dirname, "../../target/debug");

export const program = (name: "switchboard" | "switchboardd" | "load" | "fill") =>
  path.join(BIN, name);

/** A data folder of its own for every story. */
export async function dataFolder(): Promise<{ dir: string; remove: () => Promise<void> }> {
  const dir = await mkdtemp(path.join(tmpdir(), "switchboard-e2e-"));
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** What a broker says of itself in its data folder while it runs. */
export interface Endpoint {
  url: string;
  pid: number;
}

/** Waits until a broker runs in this folder. */
export function endpoint(dir: string): Promise<Endpoint> {
  return until("a broker in the data folder", async () => {
    const text = await readFile(path.join(dir, "endpoint.json"), "utf8");
    return JSON.parse(text) as Endpoint;
  });
}

/** Asks a process that is not our child to stop, and waits until it has. */
export async function stopped(pid: number): Promise<void> {
  process.kill(pid, "SIGTERM");
  await until(`the end of process ${String(pid)}`, () => (isAlive(pid) ? undefined : true));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A child process, with what it has printed so far. */
export class Child {
  readonly #process: ChildProcess;
  #output = "";

  constructor(command: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
    this.#process = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on("data", (text: Buffer) => (this.#output += text.toString()));
    }
  }

  /** Waits for something in its output. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return until(`${pattern.source} in the output`, () => {
      const found = pattern.exec(this.#output);
      if (found === null && this.#process.exitCode !== null) throw new Error(this.#output);
      return found ?? undefined;
    });
  }

  /** The last whole line it has printed. */
  lastLine(): string {
    return this.#output.split("\n").at(-2) ?? "";
  }

  /** Waits for its end; gives the exit code, or the signal that ended it. */
  async ended(): Promise<number | string | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, "exit");
    return this.#process.exitCode ?? this.#process.signalCode;
  }

  async stop(): Promise<number | string | null> {
    this.#process.kill("SIGTERM");
    return this.ended();
  }
}
