import type { MessageRow, RelatedMessage, Relation } from "../../api/generated";

const titles: Record<Relation, string> = {
  question: "It answers",
  answer: "Answered by",
  original: "Sent in place of",
  replay: "Sent in its place",
  trace: "In the same trace",
  conversation: "In the same conversation",
};

export interface RelatedGroup {
  relation: Relation;
  title: string;
  rows: MessageRow[];
}

/** Messages by what they are to the one that is looked at, the nearest relation first. */
export function groupRelated(messages: readonly RelatedMessage[]): RelatedGroup[] {
  return (Object.keys(titles) as Relation[])
    .map((relation) => ({
      relation,
      title: titles[relation],
      rows: messages.filter((each) => each.relation === relation).map(({ row }) => row),
    }))
    .filter(({ rows }) => rows.length > 0);
}
