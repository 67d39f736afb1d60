/**
 * Runs `work` at most once at a time. Whoever asks while it runs is served by one more run, which
 * begins after they asked.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async () => {
    do {
      again = false;
      await work();
    } while (again);
  };
  return () => {
    if (running === null) running = run().finally(() => (running = null));
    else again = true;
    return running;
  };
}
