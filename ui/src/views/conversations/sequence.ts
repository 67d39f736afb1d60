import type {
  AgentId,
  ConversationMessage,
  Kind,
  MessageId,
  MessageRow,
  Timestamp,
} from "../../api/generated";
import { microsBetween } from "../../parts/time";
import { recipient, stateName, wentWrong } from "../words";

/** The lane of the broker itself, whatever a door calls it. */
const BROKER = "switchboard";
const BROKER_NAMES: ReadonlySet<string> = new Set([BROKER, "router", "lobby", "global_lobby"]);

/** One line of a sequence diagram: a message, or what its recipient gave back with its acknowledgement. */
export interface Arrow {
  key: string;
  message: ConversationMessage;
  /** Whether it is the answer that came back with the acknowledgement. */
  answer: boolean;
  /** Lanes, from the left. Whom nobody was found for has none. */
  from: number;
  to: number | null;
  /** What was refused never arrived; what is for everyone crosses all lanes. */
  reach: "arrives" | "halfway" | "everyone";
  tone: Kind | "error";
  dashed: boolean;
  /** It has not been settled yet. */
  waiting: boolean;
  label: string;
  /** Microseconds since the conversation began. */
  after: number;
}

/** A conversation as a diagram. */
export interface Sequence {
  lanes: AgentId[];
  arrows: Arrow[];
}

/** Who speaks with whom in which order. Lanes stand in the order in which they first appear. */
export function sequence(
  messages: readonly ConversationMessage[],
  began: Timestamp = messages[0]?.row.createdAt ?? "",
): Sequence {
  const lanes = new Map<AgentId, number>();
  const lane = (agent: AgentId): number => {
    const name = BROKER_NAMES.has(agent) ? BROKER : agent;
    const known = lanes.get(name) ?? lanes.size;
    lanes.set(name, known);
    return known;
  };
  const apart = answeredApart(messages);
  const arrows: Arrow[] = [];
  let answers: Arrow[] = [];
  for (const message of messages) {
    const arrow = sent(message, lane, microsBetween(began, message.row.createdAt));
    // What came back in the meantime stands above.
    const due = answers.filter((each) => each.after <= arrow.after);
    answers = answers.filter((each) => each.after > arrow.after);
    arrows.push(...due, arrow);
    const answer = apart.has(message) ? null : returned(arrow);
    if (answer !== null) answers = [...answers, answer].sort((a, b) => a.after - b.after);
  }
  return { lanes: [...lanes.keys()], arrows: [...arrows, ...answers] };
}

/** The questions whose answer is a message of its own: what came with the acknowledgement is the same. */
function answeredApart(messages: readonly ConversationMessage[]): Set<ConversationMessage> {
  const way = (from: AgentId | null, to: AgentId | null, correlation: string | null) =>
    JSON.stringify([from, to, correlation]);
  const answered = new Set(
    messages
      .filter(({ row, correlationId }) => row.kind === "response" && correlationId !== null)
      .map(({ row, correlationId }) => way(row.to, row.from, correlationId)),
  );
  return new Set(
    messages.filter(({ row, correlationId }) => answered.has(way(row.from, row.to, correlationId))),
  );
}

function sent(
  message: ConversationMessage,
  lane: (agent: AgentId) => number,
  after: number,
): Arrow {
  const { row } = message;
  const bad = wentWrong(row.state);
  const said = status(row);
  const what = said ?? about(row);
  const everyone = row.to === null && row.kind === "broadcast" && !bad;
  return {
    key: row.id,
    message,
    answer: false,
    from: lane(row.from),
    to: row.to === null ? null : lane(row.to),
    reach: everyone
      ? "everyone"
      : row.state === "refused" || row.to === null
        ? "halfway"
        : "arrives",
    tone: bad || said === "error" ? "error" : row.kind,
    dashed: bad || row.kind === "response",
    waiting: row.state === "waiting",
    label: bad ? `${what} — ${stateName[row.state]}` : what,
    after,
  };
}

/** The way back, if the recipient gave an answer along with its acknowledgement. */
function returned(arrow: Arrow): Arrow | null {
  const { message, from, to, after } = arrow;
  if (message.answerText === null || to === null) return null;
  return {
    ...arrow,
    key: `${message.row.id} answer`,
    answer: true,
    from: to,
    to: from,
    reach: "arrives",
    tone: "response",
    dashed: true,
    waiting: false,
    label: "answer",
    after: after + (message.row.tookMicros ?? 0),
  };
}

/** What a response says of itself at the doors where it does: `success`, `error`, `partial`. */
function status({ kind, payload }: Pick<MessageRow, "kind" | "payload">): string | null {
  if (kind !== "response" || typeof payload !== "object" || payload === null) return null;
  const { status: said } = payload as { status?: unknown };
  return typeof said === "string" && said !== "" ? said : null;
}

/** What a message is about, in as few words as fit on an arrow. */
export function about(row: Pick<MessageRow, "capability" | "topic" | "kind">): string {
  if (row.capability !== null) return row.capability;
  // An address that only names the recipient says nothing that the arrow does not.
  if (row.topic !== null && !row.topic.startsWith("agent:")) return row.topic;
  return row.kind;
}

/** What the picture says of an arrow beside its label. */
export function spoken({ message: { row }, answer }: Arrow): string {
  if (answer) return `from ${recipient(row)} to ${row.from}:`;
  return `${row.kind} from ${row.from} to ${recipient(row)}:`;
}

/** The question of an answer, or the answers to a question: what belongs together when one is open. */
export function partners(messages: readonly ConversationMessage[], id: MessageId): Set<MessageId> {
  const asked = messages.find(({ row }) => row.id === id)?.answers ?? null;
  const found = messages.filter(({ row, answers }) => answers === id || row.id === asked);
  return new Set(found.map(({ row }) => row.id));
}

/** A lane and all that it speaks with. */
export function speaksWith({ lanes, arrows }: Sequence, lane: AgentId): Set<AgentId> {
  const found = new Set([lane]);
  for (const { from, to } of arrows) {
    const [a, b] = [lanes[from], to === null ? undefined : lanes[to]];
    if (a === lane && b !== undefined) found.add(b);
    if (b === lane && a !== undefined) found.add(a);
  }
  return found;
}

/** The lanes that a message, and those that belong to it, run between. */
export function lanesOf({ lanes, arrows }: Sequence, ids: ReadonlySet<MessageId>): Set<AgentId> {
  const found = new Set<AgentId>();
  for (const { from, to, message } of arrows) {
    if (!ids.has(message.row.id)) continue;
    for (const lane of [from, to]) found.add(lanes[lane ?? from] ?? "");
  }
  return found;
}
