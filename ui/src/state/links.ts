import { parseLink, type Link } from "../parts/link";
import { findScreen, type Screen } from "./route.svelte";

/** What a link can ask of the console. */
export interface LinkHost {
  /** Whether this agent is known here. */
  knows(agent: string): boolean;
  showMessage(message: { id: string }): void;
  showAgent(id: string): void;
  showConversation(id: string): void;
  showLetter(letter: { id: string }): void;
  showScreen(screen: Screen): void;
  tell(text: string): void;
}

/** Opens what a link leads to, once there is something to open. */
export class Links {
  readonly #host: LinkHost;
  /** The last one that came before the broker was reached. */
  #waiting: Link | null = null;
  #ready = false;

  constructor(host: LinkHost) {
    this.#host = host;
  }

  /** A link as it was written somewhere. */
  follow(text: string): void {
    this.open(parseLink(text));
  }

  /** None is a link that could not be read. */
  open(link: Link | null): void {
    if (link === null) this.#host.tell("That link leads nowhere here. It may have been cut short.");
    else if (this.#ready) this.#show(link);
    else this.#waiting = link;
  }

  /** The broker is there. */
  ready(): void {
    this.#ready = true;
    const link = this.#waiting;
    this.#waiting = null;
    if (link !== null) this.#show(link);
  }

  #show({ kind, id }: Link): void {
    const host = this.#host;
    switch (kind) {
      case "message":
        return host.showMessage({ id });
      case "conversation":
        return host.showConversation(id);
      case "dead-letter":
        return host.showLetter({ id });
      case "agent":
        if (host.knows(id)) host.showAgent(id);
        else host.tell(`The link leads to the agent ${id}, which is not known here.`);
        return;
      case "screen": {
        const screen = findScreen(id);
        if (screen === undefined) host.tell("The link leads to a screen that is not here.");
        else host.showScreen(screen);
      }
    }
  }
}
