import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { AgentView, FeedEvent, Permissions as Matrix, RuleChange } from "../api/generated";
import { plural } from "../parts/quantity";
import { throttle } from "../parts/throttle";
import { calledName, type Agents } from "./agents.svelte";
import type { Notices } from "./notices.svelte";
import { PendingEdits } from "./pending-edits.svelte";
import { cellAt, declaration, type Board, type Cell } from "./permission-cell";
import { ruleKey } from "./rule";
import { RuleHistory } from "./rule-history.svelte";
import { Suggestions } from "./rule-suggestions.svelte";
import { WhatIf } from "./what-if.svelte";

const REFRESH_MS = 1_000;
/** Traffic is counted anew so often while someone looks. */
const RECOUNT_MS = 30_000;

export const PERIODS = [1, 24, 168] as const;
export type Section = "matrix" | "rules" | "history" | "suggestions";

/** The Permissions screen: who may call what, the rules behind it, and edits that are not applied yet. */
export class Permissions {
  section = $state<Section>("matrix");
  /** How many hours of traffic are counted, replayed and learned from. */
  hours = $state<number>(24);
  /** Part of the name of a provider or capability; elsewhere of any part of a rule. */
  text = $state("");
  callerText = $state("");
  /** Providers whose capabilities are put together in one column. */
  folded = $state.raw<ReadonlySet<string>>(new Set());
  /** As the rules in force make it. */
  matrix = $state.raw<Matrix | null>(null);
  trouble = $state<string | null>(null);
  note = $state("");
  applying = $state(false);
  applyTrouble = $state<string | null>(null);
  readonly pending: PendingEdits;
  readonly whatIf: WhatIf;
  readonly history: RuleHistory;
  readonly suggestions: Suggestions;
  readonly board: Board | null;
  /** What a person calls an agent. Rules name it by its id all the same. */
  readonly nameOf: (id: string) => string;

  readonly #client: Client;
  readonly #notices: Notices;
  readonly #refresh = throttle(() => void this.#read(), REFRESH_MS);
  readonly #capabilities = new Map<string, string>();
  #watched = false;
  #reading: Promise<void> | null = null;
  #again = false;

  constructor(client: Client, agents: Pick<Agents, "byId">, notices: Notices) {
    this.#client = client;
    this.#notices = notices;
    this.nameOf = (id) => calledName(id, agents.byId);
    this.whatIf = new WhatIf(client);
    this.history = new RuleHistory(client, () => void this.#read());
    this.suggestions = new Suggestions(client);
    this.pending = new PendingEdits(() => this.#askWhatIf());
    this.board = $derived.by(() => {
      const { matrix, pending } = this;
      if (matrix === null) return null;
      const declarations = matrix.columns.map((column) =>
        declaration(agents.byId.get(column.provider), column),
      );
      const would = this.whatIf.matrix;
      const edited = would !== null && sameShape(would, matrix) ? would : null;
      return { matrix, edited, declarations, pending };
    });
  }

  cell(row: number, column: number): Cell | null {
    return this.board === null ? null : cellAt(this.board, row, column);
  }

  /** Keeps the screen true from now on. Returns how to stop. */
  watch(): () => void {
    this.#watched = true;
    this.#refresh.ask();
    const recount = setInterval(() => this.#refresh.ask(), RECOUNT_MS);
    return () => {
      this.#watched = false;
      clearInterval(recount);
      this.#refresh.stop();
    };
  }

  take(event: FeedEvent): void {
    // Every agent is asked, also where one is known to be new: all are remembered.
    const changed = event.agents.filter((agent) => this.#isNew(agent)).length > 0;
    const rules = event.type === "snapshot" || event.rules;
    if (this.#watched && (changed || rules)) this.#refresh.ask();
  }

  choosePeriod(hours: number): void {
    this.hours = hours;
    this.#refresh.ask();
  }

  toggleFold(provider: string): void {
    const next = new Set(this.folded);
    if (!next.delete(provider)) next.add(provider);
    this.folded = next;
  }

  /** Tries again after the matrix could not be read. */
  retry(): void {
    this.trouble = null;
    void this.#read();
  }

  /** Puts the pending edits in force, all at once. */
  async apply(): Promise<void> {
    const edits = [...this.pending.list];
    if (edits.length === 0 || this.applying) return;
    this.applying = true;
    this.applyTrouble = null;
    const note = this.note.trim();
    try {
      const change = await this.#client.call("editRules", {
        edits,
        ...(note === "" ? {} : { note }),
      });
      await this.#read();
      for (const edit of edits) {
        // What was edited once more meanwhile is still to be applied.
        const now = this.pending.byKey.get(ruleKey(edit));
        if (now?.effect === edit.effect) this.pending.remove(edit);
      }
      this.note = "";
      this.#tell(change);
    } catch (reason) {
      this.applyTrouble = CallError.from(reason).message;
    } finally {
      this.applying = false;
    }
  }

  discard(): void {
    const edits = this.pending.list;
    this.pending.clear();
    this.applyTrouble = null;
    const action = { label: "Undo", run: () => this.pending.add(...edits) };
    this.#notices.show(`${plural(edits.length, "edit")} discarded.`, action);
  }

  /** Takes a change back, wherever that is asked for. */
  async undo(change: number): Promise<void> {
    const done = await this.history.undo(change);
    const why = this.history.undoTrouble?.message ?? "It is being taken back already.";
    this.#notices.show(done ? "The rules are as they were before." : why);
  }

  #tell({ id, edits }: RuleChange): void {
    const action = { label: "Undo", run: () => void this.undo(id) };
    this.#notices.show(`${plural(edits.length, "edit")} applied.`, action);
  }

  #askWhatIf(): void {
    this.whatIf.ask({ edits: this.pending.list, hours: this.hours });
  }

  /** Whether an agent came, or offers something else than before. */
  #isNew({ id, capabilities }: AgentView): boolean {
    const offers = JSON.stringify(
      capabilities.map((each) => [each.name, each.description, each.authorized_requester_ids]),
    );
    const before = this.#capabilities.get(id);
    this.#capabilities.set(id, offers);
    return before !== offers;
  }

  /** One reading at a time; whoever asks meanwhile is served by one more. */
  #read(): Promise<void> {
    if (this.#reading !== null) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#readAll().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    do {
      this.#again = false;
      try {
        const [{ rules }, matrix] = await Promise.all([
          this.#client.call("rules", {}),
          this.#client.call("permissions", { hours: this.hours, edits: [] }),
          this.section === "history" ? this.history.read() : null,
        ]);
        this.pending.rebase(rules);
        this.matrix = matrix;
        this.trouble = null;
        if (this.pending.list.length > 0) this.#askWhatIf();
      } catch (reason) {
        this.trouble = CallError.from(reason).message;
      }
    } while (this.#again);
  }
}

/** Whether two matrices have the same rows and columns. */
function sameShape(a: Matrix, b: Matrix): boolean {
  return (
    a.callers.length === b.callers.length &&
    a.columns.length === b.columns.length &&
    a.callers.every((caller, i) => caller === b.callers[i]) &&
    a.columns.every(
      ({ provider, capability }, i) =>
        provider === b.columns[i]?.provider && capability === b.columns[i].capability,
    )
  );
}
