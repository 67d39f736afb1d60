import type { Code } from "./generated";

/** What the broker calls a failure, and the one it cannot tell us about: that it was not reached. */
export type FailureCode = Code | "unreachable";

/** A call that did not work, with a sentence for people and a code for programs. */
export class CallError extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.name = "CallError";
    this.code = code;
  }

  /** Makes sense of whatever a transport threw or a broker wrote. */
  static from(reason: unknown, otherwise = "The broker could not be reached."): CallError {
    if (reason instanceof CallError) return reason;
    if (isRefusal(reason)) return new CallError(reason.code, reason.message);
    return new CallError("unreachable", otherwise);
  }
}

function isRefusal(value: unknown): value is { code: Code; message: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "string" &&
    "message" in value &&
    typeof value.message === "string"
  );
}
