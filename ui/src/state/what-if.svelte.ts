import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { Permissions, RuleEdit, RulePreview } from "../api/generated";
import { debounce } from "../parts/throttle";
import { ANY, isPattern } from "./rule";

const PAUSE_MS = 200;

interface Question {
  edits: readonly RuleEdit[];
  hours: number;
}

/** What the pending edits would do: to the matrix, and to the requests that were recorded. */
export class WhatIf {
  /** None until the broker has said, or where nothing is pending. */
  preview = $state.raw<RulePreview | null>(null);
  /** The matrix as it would be; none where every edit is about one cell only, and says its effect. */
  matrix = $state.raw<Permissions | null>(null);
  asking = $state(false);
  trouble = $state<string | null>(null);

  readonly #client: Client;
  readonly #pause = debounce(() => void this.#answer(), PAUSE_MS);
  #question: Question = { edits: [], hours: 24 };

  constructor(client: Client) {
    this.#client = client;
  }

  /** Asks about these edits, once no others follow. */
  ask(question: Question): void {
    this.#question = question;
    this.trouble = null;
    this.asking = question.edits.length > 0;
    if (this.asking) this.#pause.ask();
    else this.stop();
  }

  stop(): void {
    this.#pause.stop();
    this.asking = false;
    this.preview = null;
    this.matrix = null;
  }

  /** Asks the same once more. */
  retry(): void {
    this.ask({ ...this.#question });
  }

  async #answer(): Promise<void> {
    const question = this.#question;
    const params = { edits: [...question.edits], hours: question.hours };
    try {
      const [preview, matrix] = await Promise.all([
        this.#client.call("previewRules", params),
        question.edits.some(reachesFurther) ? this.#client.call("permissions", params) : null,
      ]);
      if (question !== this.#question) return;
      this.preview = preview;
      this.matrix = matrix;
      this.trouble = null;
    } catch (reason) {
      if (question !== this.#question) return;
      this.preview = null;
      this.trouble = CallError.from(reason).message;
    }
    this.asking = false;
  }
}

/** Whether only the broker can tell what an edit leads to. */
function reachesFurther({ caller, provider, capability, effect }: RuleEdit): boolean {
  const wide = (part: string) => part === ANY || isPattern(part);
  return effect === null || wide(caller) || wide(provider) || wide(capability);
}
