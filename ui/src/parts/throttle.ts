/**
 * Calls `run` at once, and then at most once every `ms` however often it is asked. The last request
 * is never lost. Returned with a way to drop what is pending.
 */
export function throttle(run: () => void, ms: number): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const rest = () => {
    timer = undefined;
    if (!again) return;
    again = false;
    fire();
  };
  const fire = () => {
    timer = setTimeout(rest, ms);
    run();
  };
  return {
    ask() {
      if (timer === undefined) fire();
      else again = true;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      again = false;
    },
  };
}

/** Calls `run` once nothing was asked for `ms`. */
export function debounce(run: () => void, ms: number): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    ask() {
      clearTimeout(timer);
      timer = setTimeout(run, ms);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
