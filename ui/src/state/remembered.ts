// What the console remembers about its operator on this machine. A browser may forbid storage; then
// nothing is remembered, and nothing else changes.

const PREFIX = "switchboard.";

export function recall(name: string): string | null {
  try {
    return window.localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    window.localStorage.setItem(PREFIX + name, value);
  } catch {
    return;
  }
}
