import type { MessageForms, RelatedMessages } from "../api/generated";

/** What the broker knows of a message beyond its detail. */
export class FakeMessage {
  forms: MessageForms = { forms: [] };
  related: RelatedMessages = { messages: [] };
}
