import type { SettingKind, SettingView } from "../api/generated";
import { bytes, count } from "../parts/quantity";
import { span } from "../parts/time";

/** What was entered for a setting: a value that may be given, or what is wrong with it. */
export type Entered = { value: unknown } | { wrong: string };

/** Makes a value of what stands in a field. Fields for numbers hold text while they are written in. */
export function parsed(kind: SettingKind, entered: unknown): Entered {
  switch (kind.type) {
    case "switch":
      return { value: entered === true };
    case "number":
      return parsedNumber(kind, entered);
    case "choice":
      return kind.options.some((option) => option === entered)
        ? { value: entered }
        : { wrong: `Choose ${listed(kind.options)}.` };
    case "text":
      return { value: typeof entered === "string" ? entered.trim() : "" };
    case "list":
      return { value: texts(entered).flatMap((text) => (text.trim() === "" ? [] : [text.trim()])) };
    case "file":
      return { wrong: "It is changed in the file itself." };
  }
}

function parsedNumber(
  { min, max, fraction, unit }: Extract<SettingKind, { type: "number" }>,
  entered: unknown,
): Entered {
  const text = String(entered).replace(/[\s,_]/g, "");
  const value = Number(text);
  const named = unit === "" ? "" : ` ${unit}`;
  if (text === "" || !Number.isFinite(value)) return { wrong: "Write a number." };
  if (!fraction && !Number.isInteger(value)) return { wrong: "Write a whole number." };
  if (value < min) return { wrong: `The least is ${grouped(min)}${named}.` };
  if (value > max) return { wrong: `The most is ${grouped(max)}${named}.` };
  return { value };
}

/** What the settings file says: what holds, or what will after a restart. */
export function saved(setting: SettingView): unknown {
  return setting.next ?? setting.value;
}

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A value for people: `3`, `30,000 ms`, `on`, `lo, eth0`, `nothing`. */
export function told(kind: SettingKind, value: unknown): string {
  switch (kind.type) {
    case "switch":
      return value === true ? "on" : "off";
    case "number": {
      const unit = kind.unit === "" ? "" : ` ${kind.unit}`;
      return `${grouped(Number(value))}${unit}`;
    }
    case "choice":
    case "text":
      return typeof value === "string" && value !== "" ? value : "nothing";
    case "list":
    case "file": {
      const all = texts(value);
      return all.length === 0 ? "nothing" : all.join(kind.type === "list" ? ", " : " ");
    }
  }
}

/** A large figure in a unit that reads easily; none where it reads easily as it is. */
export function roughly(value: number, unit: string): string | null {
  if (!Number.isFinite(value)) return null;
  if (unit === "ms") return value < 1_000 ? null : spanOf(value / 1_000);
  if (unit === "bytes") return value < 1_000 ? null : bytes(value);
  if (unit === "MB") return value < 1_000 ? null : bytes(value * 1_000_000);
  return null;
}

function spanOf(seconds: number): string {
  return seconds < 60 && !Number.isInteger(seconds) ? `${seconds.toFixed(1)} s` : span(seconds);
}

/** A number as it is written into a field: to the digit, thousands together. */
export function written(value: unknown): string {
  return typeof value === "number" ? String(value) : "";
}

export function texts(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((each: unknown) => (typeof each === "string" ? each : JSON.stringify(each)));
}

function grouped(value: number): string {
  return Number.isInteger(value) ? count(value) : String(value);
}

function listed(options: readonly string[]): string {
  return options.length < 2
    ? options.join("")
    : `${options.slice(0, -1).join(", ")} or ${options.at(-1) ?? ""}`;
}
