import { CallError } from "../api/error";
import type {
  AdmitAgent,
  AllowEntry,
  AllowList,
  AnnouncedView,
  DiscoveryView,
  EditAllowList,
  Looking,
  Nothing,
  TurnedAway,
} from "../api/generated";
import { AT, key, looking } from "./fixtures";

/** The part of the fake broker that knows who was announced. */
export class FakeDiscovery {
  agents: AnnouncedView[] = [];
  turnedAway: TurnedAway[] = [];
  looking: Looking = looking();
  allowed: AllowEntry[] = [];

  get view(): DiscoveryView {
    return {
      agents: [...this.agents],
      turnedAway: this.turnedAway,
      own: {
        id: "7b1f0c52-aa01-4c7e-9d55-0f5b8a3c1d20",
        fingerprint: key("c0ffee").fingerprint,
        documentUrl: "http://127.0.0.1:7892/agents/7b1f0c52-aa01-4c7e-9d55-0f5b8a3c1d20",
      },
      looking: this.looking,
    };
  }

  admit({ agent, fingerprint }: AdmitAgent): AnnouncedView {
    const known = this.#find(agent);
    const other = known.keyChange?.key;
    const taken = other?.fingerprint === fingerprint ? other : known.key;
    if (fingerprint !== undefined && taken?.fingerprint !== fingerprint)
      throw new CallError("invalidRequest", "it has another key by now; look again");
    return this.#put({
      ...known,
      trust: "admitted",
      trustedBy: "operator",
      key: taken ?? null,
      keyChange: null,
    });
  }

  refuse(agent: string): AnnouncedView {
    const known = this.#find(agent);
    return this.#put({
      ...known,
      trust: "refused",
      trustedBy: "operator",
      seenBy: [],
      keyChange: null,
    });
  }

  forget(agent: string): Nothing {
    this.agents = this.agents.filter(({ id }) => id !== agent);
    return {};
  }

  lookOn(interfaces: string[]): Looking {
    this.looking = { ...this.looking, interfaces };
    return this.looking;
  }

  editAllowed({ add, remove }: EditAllowList): AllowList {
    for (const { pattern, note } of add) {
      if (pattern.includes(" ")) throw new CallError("invalidRequest", "no id has a space in it");
      this.allowed = this.allowed.filter((entry) => entry.pattern !== pattern);
      this.allowed.push({ pattern, note, addedAt: AT });
    }
    this.allowed = this.allowed.filter(({ pattern }) => !remove.includes(pattern));
    return { entries: [...this.allowed] };
  }

  #find(agent: string): AnnouncedView {
    const found = this.agents.find(({ id }) => id === agent);
    if (found === undefined) throw new CallError("invalidRequest", "nobody of that id is known");
    return found;
  }

  #put(agent: AnnouncedView): AnnouncedView {
    this.agents = this.agents.map((each) => (each.id === agent.id ? agent : each));
    return agent;
  }
}
