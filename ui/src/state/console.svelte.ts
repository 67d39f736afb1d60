import { createContext } from "svelte";
import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { ConversationId, FeedEvent, MessageId } from "../api/generated";
import { AgentActs } from "./agents-acts.svelte";
import { AgentsBusy } from "./agents-busy.svelte";
import { Agents } from "./agents.svelte";
import { AllowList } from "./allow-list.svelte";
import { Appearance } from "./appearance.svelte";
import { Composer } from "./composer.svelte";
import { Conversations } from "./conversations.svelte";
import { Diagnostics } from "./diagnostics.svelte";
import { Discovery, type DiscoverySection } from "./discovery.svelte";
import { LetterEdit } from "./edit.svelte";
import { Feed } from "./feed.svelte";
import { Filter } from "./filter.svelte";
import { Jobs } from "./jobs.svelte";
import { askBeforeLeaving } from "./leaving";
import { LetterWork } from "./letter-work.svelte";
import { Letters } from "./letters.svelte";
import { Links } from "./links";
import { Messages } from "./messages.svelte";
import { Notices } from "./notices.svelte";
import { Overview, type Only } from "./overview.svelte";
import { Permissions, type Section } from "./permissions.svelte";
import { Route } from "./route.svelte";
import { SavedThings } from "./saved.svelte";
import { Security } from "./security.svelte";
import { Selection } from "./selection.svelte";
import { Settings } from "./settings.svelte";
import { Storage } from "./storage.svelte";
import { Theme } from "./theme.svelte";
import { Tokens } from "./tokens.svelte";
import { Traffic } from "./traffic";

/** Whom the broker names as the sender when a message comes from this console. */
export const OPERATOR = "operator";

/** Everything the screens share. Made once, handed down by context. */
export class Console {
  readonly client: Client;
  readonly theme = new Theme();
  readonly appearance = new Appearance();
  readonly route = new Route();
  readonly notices = new Notices();
  readonly traffic = new Traffic();
  readonly saved: SavedThings;
  readonly agents: Agents;
  readonly agentsBusy: AgentsBusy;
  readonly agentActs: AgentActs;
  readonly overview: Overview;
  readonly messages: Messages;
  readonly selection: Selection;
  readonly composer: Composer;
  readonly conversations: Conversations;
  readonly tokens: Tokens;
  readonly permissions: Permissions;
  readonly discovery: Discovery;
  readonly allowList: AllowList;
  readonly security: Security;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly diagnostics: Diagnostics;
  readonly letters: Letters;
  readonly jobs = new Jobs();
  readonly work: LetterWork;
  readonly edit: LetterEdit;
  readonly feed: Feed;
  readonly links: Links;
  readonly filter: Filter;
  /** The time, to the second, for everything that says “ago”. */
  now = $state(Date.now());
  palette = $state(false);
  keys = $state(false);

  constructor(client: Client) {
    this.client = client;
    this.agents = new Agents((agent) => this.notices.say(`${agent.id} joined`));
    this.agentsBusy = new AgentsBusy(client);
    this.agentActs = new AgentActs(client, this.notices, (agent) => this.agents.update([agent]));
    this.overview = new Overview(client);
    this.messages = new Messages(client);
    this.saved = new SavedThings(client, this.notices);
    this.selection = new Selection(client);
    this.composer = new Composer(client, (text) => this.notices.show(text), this.agents);
    this.conversations = new Conversations(client);
    this.tokens = new Tokens(client, (text) => this.notices.show(text));
    this.permissions = new Permissions(client, this.agents, this.notices);
    this.discovery = new Discovery(client, this.notices);
    this.allowList = new AllowList(client, this.notices);
    this.security = new Security(client, (text) => this.notices.show(text));
    this.settings = new Settings(client, (...told) => this.notices.show(...told));
    this.storage = new Storage(client, (text) => this.notices.show(text));
    this.diagnostics = new Diagnostics(client);
    this.letters = new Letters(client);
    this.work = new LetterWork(client, {
      notices: this.notices,
      jobs: this.jobs,
      changed: () => {
        this.letters.refresh();
        this.selection.refresh();
      },
      show: (id) => this.showLetter({ id }),
      showAll: () => this.showOpenLetters(),
    });
    this.edit = new LetterEdit(client, (id, change) => this.work.replay(id, change), this.agents);
    this.links = new Links({
      knows: (agent) => this.agents.has(agent),
      showMessage: (message) => this.showMessage(message),
      showAgent: (id) => this.showAgent(id),
      showConversation: (id) => this.showConversation(id),
      showLetter: (letter) => this.showLetter(letter),
      showScreen: (screen) => this.route.go(screen),
      tell: (text) => this.notices.show(text),
    });
    this.feed = new Feed(
      client,
      (event) => this.#take(event),
      (link) => this.links.follow(link),
    );
    this.filter = new Filter((filter) => {
      this.messages.begin(filter);
      this.feed.watch(filter);
      if (this.route.screen === "flow") this.route.ask(this.filter.text);
    });
  }

  /** Nothing was ever said. Someone may be listening already, halfway through the instructions. */
  get firstRun(): boolean {
    return this.feed.totals?.accepted === 0;
  }

  /** Whether the operator wrote something that only this page knows. */
  get unsaved(): boolean {
    const { edit, permissions, settings } = this;
    const letter = edit.id !== null && edit.changed;
    return letter || permissions.pending.list.length > 0 || settings.changed.length > 0;
  }

  start(): () => void {
    const stops = [
      this.theme.start(),
      this.appearance.start(),
      this.route.start((link) => this.links.open(link)),
      askBeforeLeaving(() => this.unsaved),
    ];
    const second = setInterval(() => {
      this.now = Date.now();
      this.agents.sample();
      this.selection.second();
      this.conversations.second();
      this.jobs.second();
    }, 1_000);
    this.messages.begin({});
    this.feed.watch({});
    return () => {
      clearInterval(second);
      this.feed.stop();
      this.discovery.stop();
      for (const stop of stops) stop();
    };
  }

  /** Holds the flow, or lets it go on. */
  togglePause(): void {
    this.messages.pause(!this.messages.paused);
    this.notices.show(this.messages.paused ? "The flow is paused." : "The flow goes on.");
  }

  /** Opens the palette, in front of everything. */
  togglePalette(): void {
    // A token that is shown now would be lost.
    if (this.tokens.issued !== null || this.security.signed !== null) return;
    this.tokens.cancel();
    this.agentActs.cancel();
    this.discovery.cancel();
    this.security.cancel();
    this.settings.asking = false;
    this.storage.cancel();
    this.security.forget();
    this.keys = false;
    this.composer.open = false;
    this.edit.close();
    this.work.asking = false;
    this.palette = !this.palette;
  }

  /** Shows a message on Flow: its row too, so a filter that may hide it is taken away. */
  showMessage(message: { id: MessageId; seq?: number }): void {
    const hidden = message.seq === undefined || this.messages.rows.indexOf(message.seq) < 0;
    if (hidden && this.filter.active) {
      this.filter.clear();
      this.notices.show("The filter is cleared, to show the message.");
    }
    this.route.go("flow");
    this.selection.show(message);
  }

  /** Shows an agent on its own screen. */
  showAgent(id: string): void {
    this.selection.agent = id;
    this.route.go("agents");
  }

  /** Shows the figures of one door or agent; none shows those of everything. */
  showOverview(only: Only): void {
    this.overview.show(only);
    this.route.go("overview");
  }

  /** Shows a part of the Permissions screen. */
  showPermissions(section: Section): void {
    this.permissions.section = section;
    this.route.go("permissions");
  }

  /** Shows a part of the Discovery screen. */
  showDiscovery(section: DiscoverySection): void {
    this.discovery.section = section;
    this.route.go("discovery");
  }

  /** Shows a dead letter on its own screen, whatever is listed there. */
  showLetter(letter: { id: MessageId; seq?: number }): void {
    this.route.go("dead-letters");
    this.letters.open.show(letter);
  }

  /** Shows all open dead letters. */
  showOpenLetters(): void {
    this.route.go("dead-letters");
    this.letters.widen();
    this.letters.choose({ status: "open" });
  }

  /** Shows a conversation on its own screen. */
  showConversation(id: ConversationId): void {
    this.route.go("conversations", id);
  }

  /** Asks for what a new agent needs. */
  addAgent(): void {
    this.route.go("agents");
    this.tokens.add();
  }

  /** Asks how all open dead letters should be replayed. */
  askReplayAll(): void {
    this.showOpenLetters();
    this.letters.picks.setAll();
    this.work.asking = true;
  }

  /** Shows what the operator sent last on this topic, of which only the broker knows the id yet. */
  async showSent(topic: string): Promise<void> {
    try {
      const filter = { from: OPERATOR, topic };
      const page = await this.client.call("messages", { filter, limit: 20 });
      // The broker looks for parts of names; here the whole names count.
      const row = page.rows.find((each) => each.from === OPERATOR && each.topic === topic);
      if (row === undefined) this.notices.show("The broker has not accepted it yet.");
      else this.showMessage(row);
    } catch (reason) {
      this.notices.show(CallError.from(reason).message);
    }
  }

  /** Starts or stops the demo agents. Returns whether that worked. */
  async demo(on: boolean): Promise<boolean> {
    try {
      await this.client.call("demo", { on });
      this.notices.show(on ? "Demo agents are starting." : "Demo agents stopped.");
      return true;
    } catch (reason) {
      this.notices.show(CallError.from(reason).message);
      return false;
    }
  }

  #take(event: FeedEvent): void {
    if (event.type === "snapshot") this.agents.replace(event.agents);
    else this.agents.update(event.agents);
    this.messages.take(event);
    this.traffic.take(event);
    this.selection.take(event);
    this.conversations.take(event);
    this.permissions.take(event);
    this.discovery.take(event);
    this.allowList.take(event);
    this.letters.take(event);
    this.jobs.take(event);
    this.work.take(event);
    this.settings.take(event);
    if (event.type === "snapshot") this.links.ready();
  }
}

export const [useConsole, provideConsole] = createContext<Console>();
