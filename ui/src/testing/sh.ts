// @ts-expect-error The page's types know nothing of Node; tests run there.
import { execFileSync } from "node:child_process";

/** What a real shell prints when it runs this. */
export function sh(script: string): string {
  return execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" }) as string;
}
