// A message as it is written on the bus, where `bub` and the operator speak. The broker does the same
// for agents (model/dialect.rs); here it is needed before anything is sent.
import type { MessageDetail } from "../api/generated";
import { readTree, type JsonTree } from "../parts/json-tree";

/** The envelope's own keys in a call on the bus. */
export const OWN_KEYS: readonly string[] = ["type", "capability"];
/** Where keys of the input go that collide with those. */
const FOLD = "input";

/** Where a message was sent, and what it says, in the words of the bus. */
export function onTheBus(detail: MessageDetail): { topic: string; payload: string } {
  const { row, payloadText, dialect } = detail;
  const topic = row.topic ?? (row.to === null ? "" : `agent:${row.to}`);
  const tree = dialect === "bus" ? null : readTree(payloadText);
  if (tree === null) return { topic, payload: payloadText };
  const payload = row.kind === "request" ? busCall(tree, detail) : busEvent(tree, detail);
  return { topic, payload: payload ?? payloadText };
}

/** What a call on the bus hands over: the payload's keys without the envelope's own. */
export function busInput(tree: JsonTree): Map<string, number> {
  const members = new Map(tree.inside(0).map((node) => [tree.key(node) ?? "", node]));
  if (tree.kind(0) !== "object") return new Map();
  const text = (key: string) => {
    const node = members.get(key);
    return node !== undefined && tree.kind(node) === "string" ? tree.plain(node) : null;
  };
  const capability = text("capability");
  const kind = text("type");
  if (capability !== null) members.delete("capability");
  if (kind !== null && (capability === null || capability === kind)) members.delete("type");
  const fold = members.get(FOLD);
  if (fold === undefined || tree.kind(fold) !== "object") return members;
  const below = tree.inside(fold).map((node) => [tree.key(node) ?? "", node] as const);
  const mayFold = ([key]: readonly [string, number]) => key === FOLD || OWN_KEYS.includes(key);
  const clash = below.some(([key]) => key !== FOLD && members.has(key));
  if (below.length === 0 || !below.every(mayFold) || clash) return members;
  members.delete(FOLD);
  for (const [key, node] of below) members.set(key, node);
  return members;
}

/** What a call on the bus asks for, as the broker reads it. */
export function busCapability(tree: JsonTree): string | null {
  for (const key of ["capability", "type"]) {
    const node = tree.member(0, key);
    if (node !== null && tree.kind(node) === "string") return tree.plain(node);
  }
  return null;
}

/** Writes a call: the envelope's keys, then the input's; those that collide under `input`. */
export function writeBusCall(capability: string, input: readonly [string, string][]): string {
  const folds = input.some(([key]) => OWN_KEYS.includes(key));
  const collides = (key: string) => folds && (key === FOLD || OWN_KEYS.includes(key));
  const below = input.filter(([key]) => collides(key));
  const head = OWN_KEYS.map((key) => [key, JSON.stringify(capability)] as const);
  const rest = input.filter(([key]) => !collides(key));
  const folded = below.length === 0 ? [] : [[FOLD, writeObject(below)] as const];
  return writeObject([...head, ...rest, ...folded]);
}

export function writeObject(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

function busCall(tree: JsonTree, { row, dialect }: MessageDetail): string | null {
  const capability = row.capability;
  if (capability === null || tree.kind(0) !== "object") return null;
  const all = membersOf(tree, 0);
  if (dialect === "lobby")
    return writeBusCall(
      capability,
      all.filter(([key]) => key !== "capability_name"),
    );
  const input = tree.member(0, dialect === "collaboration" ? "parameters" : "input");
  if (input === null) return writeBusCall(capability, dialect === "collaboration" ? [] : all);
  const given: [string, string][] =
    tree.kind(input) === "object" ? membersOf(tree, input) : [["result", tree.raw(input)]];
  return writeBusCall(capability, given);
}

function busEvent(tree: JsonTree, { dialect }: MessageDetail): string | null {
  const content = dialect === "collaboration" ? tree.member(0, "content") : null;
  return content === null ? null : tree.raw(content);
}

function membersOf(tree: JsonTree, node: number): [string, string][] {
  return tree.inside(node).map((each) => [tree.key(each) ?? "", tree.raw(each)]);
}
