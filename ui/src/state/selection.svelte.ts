import { OpenMessage } from "./open-message.svelte";

/** What the operator looks at: one message on Flow, one agent on Agents. */
export class Selection extends OpenMessage {
  agent = $state<string | null>(null);
}
