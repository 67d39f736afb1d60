import { setTimeout as pause } from "node:timers/promises";

/** How long a condition may take to become true before the story has failed. */
const PATIENCE = 20_000;

/** Asks again and again until there is an answer; says what it waited for if there never is one. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const deadline = Date.now() + PATIENCE;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    await pause(25);
  }
  throw new Error(`waited in vain: ${what}`, { cause: last });
}
