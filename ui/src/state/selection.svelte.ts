import type { Client } from "../api/client";
import type { MessageForms, RelatedMessages } from "../api/generated";
import { Folds } from "./folds.svelte";
import { Lookup } from "./lookup.svelte";
import { OpenMessage } from "./open-message.svelte";

/** What the operator looks at: one message on Flow, one agent on Agents. */
export class Selection extends OpenMessage {
  agent = $state<string | null>(null);
  /** The message in the words of each door it passed. */
  readonly forms: Lookup<MessageForms>;
  /** The messages that have to do with it. */
  readonly related: Lookup<RelatedMessages>;
  /** Which parts of a message are folded away. */
  readonly folds = new Folds("message-parts");

  constructor(client: Client) {
    super(client);
    this.forms = new Lookup((id) => client.call("messageForms", { id }));
    this.related = new Lookup((id) => client.call("relatedMessages", { id }));
  }
}
