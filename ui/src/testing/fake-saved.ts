import { CallError } from "../api/error";
import type { Save, Saved, SavedList } from "../api/generated";
import { AT } from "./fixtures";

/** What a broker keeps for its operator, in memory. */
export class FakeSaved {
  list: Saved[] = [];

  get view(): SavedList {
    return { saved: [...this.list] };
  }

  save({ kind, name, text }: Save): SavedList {
    if (name === "") throw new CallError("invalidRequest", "the name is empty");
    const others = this.list.filter((each) => each.kind !== kind || each.name !== name);
    this.list = text === undefined ? others : [...others, { kind, name, text, savedAt: AT }];
    this.list.sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.view;
  }
}
