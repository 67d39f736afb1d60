/**
 * Runs something at once and then again and again, `ms` after it ended the last time, while the page is
 * seen. Returns how to stop.
 */
export function poll(run: () => Promise<void>, ms: number, page: Document = document): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let running = false;
  const turn = async () => {
    clearTimeout(timer);
    if (stopped || running || page.hidden) return;
    running = true;
    try {
      await run();
    } finally {
      running = false;
      if (!stopped) timer = setTimeout(() => void turn(), ms);
    }
  };
  const seen = () => void turn();
  page.addEventListener("visibilitychange", seen);
  void turn();
  return () => {
    stopped = true;
    clearTimeout(timer);
    page.removeEventListener("visibilitychange", seen);
  };
}
