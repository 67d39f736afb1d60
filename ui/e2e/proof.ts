import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";

/** Whether proofs run at full size, as `./dev prove` asks. */
export const full = process.env.PROVE === "full";

/** A promise, tried in many cases: the same row of docs/PROOFS.md as the proofs in tests/ write. */
export class Proof {
  readonly #row;
  #passed = 0;
  readonly #failures: string[] = [];

  constructor(line: number, name: string, promise: string, how: string) {
    this.#row = { name, line, promise, how };
  }

  get cases(): number {
    return this.#passed + this.#failures.length;
  }

  check(name: string, holds: boolean): void {
    if (holds) this.#passed++;
    else this.#failures.push(name);
  }

  /** Says how it went, writes it down if PROOFS_DIR says where, and fails if a case failed or there was none. */
  async close(figure: string): Promise<void> {
    const [passed, failed] = [this.#passed, this.#failures.length];
    const date = new Date().toISOString().slice(0, 10);
    const row = { ...this.#row, figure, passed, failed, peer: null, date, full };
    process.stdout.write(
      `${row.name}: ${figure}\n${String(passed)} passed, ${String(failed)} failed\n`,
    );
    const folder = process.env.PROOFS_DIR;
    if (folder !== undefined)
      await writeFile(path.join(folder, `${row.name}.json`), `${JSON.stringify(row, null, 2)}\n`);
    expect(this.#failures).toEqual([]);
    expect(passed).toBeGreaterThan(0);
  }
}
