import type { MessageDetail } from "../../api/generated";
import { readTree } from "../../parts/json-tree";
import { quote } from "../../parts/shell";
import { busInput, onTheBus, writeObject } from "../../state/bus-words";
import { OPERATOR } from "../../state/console.svelte";

/** A shell takes no longer words; a larger payload is handed over by the standard input. */
const LONGEST_WORD = 100_000;
const USUAL = ["ws://127.0.0.1:7892", "ws://localhost:7892"];

/** Where the broker is, and where its files are. */
export interface Whereabouts {
  url: string;
  dataDir: string;
}

/** A line that sends the same again by `bub`. */
export function asBub(detail: MessageDetail, { url }: Pick<Whereabouts, "url">): string {
  const { topic, payload } = onTheBus(detail);
  const { priority } = detail.row;
  const at = USUAL.includes(url) ? "" : `BUB_BUS_URL=${quote(url)} `;
  const urgent = priority === "NORMAL" ? "" : ` --priority ${priority.toLowerCase()}`;
  const head = `${at}bub send-message --topic=${quote(topic)}${urgent} --payload`;
  return payload.length > LONGEST_WORD
    ? `${head} - ${hereDocument(payload)}`
    : `${head} ${quote(payload)}`;
}

/** A line that sends the same again as the operator, by the console's own call. */
export function asCurl(detail: MessageDetail, { url, dataDir }: Whereabouts): string {
  const { topic, payload } = onTheBus(detail);
  const { priority } = detail.row;
  const params = { topic, payload, ...(priority === "NORMAL" ? {} : { priority }) };
  const token = `"Authorization: Bearer $(cat ${quote(`${dataDir}/admin-token`)})"`;
  return curl(`${httpOf(url)}/console/call`, token, JSON.stringify({ method: "send", params }));
}

/** A line that sends the same again at the AACP door, as its sender; only requests to one agent. */
export function asAacp(detail: MessageDetail, { url }: Pick<Whereabouts, "url">): string | null {
  const { row } = detail;
  // The operator has no token to show there.
  if (row.kind !== "request" || row.from === OPERATOR) return null;
  if (row.to === null || row.capability === null) return null;
  const content = aacpContent(detail, row.capability);
  const body = `{"sender_agent_id":${JSON.stringify(row.from)},"receiver_agent_id":${JSON.stringify(row.to)},"message_type":"request","content":${content}}`;
  const token = `"Authorization: Bearer $TOKEN"`;
  return curl(`${httpOf(url)}/api/v1/protocol/messages`, token, body);
}

/** The whole message as JSON; the payload as its sender wrote it. */
export function asJson(detail: MessageDetail): string {
  const { row, payloadText, ...rest } = detail;
  const { payload: _, ...known } = row;
  const fields = Object.entries({ ...known, ...rest }).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${fields.join(",\n")},\n  "payload": ${payloadText}\n}`;
}

function aacpContent(detail: MessageDetail, capability: string): string {
  if (detail.dialect === "aacp") return detail.payloadText;
  const tree = readTree(onTheBus(detail).payload);
  const input =
    tree === null ? [] : [...busInput(tree)].map(([key, node]) => [key, tree.raw(node)] as const);
  return `{"action":${JSON.stringify(capability)},"input":${writeObject(input)}}`;
}

function curl(url: string, token: string, body: string): string {
  const data = body.length > LONGEST_WORD ? `@- ${hereDocument(body)}` : quote(body);
  return `curl -sS ${quote(url)} -H ${token} -H 'Content-Type: application/json' --data-binary ${data}`;
}

function httpOf(url: string): string {
  return url.replace(/^ws/, "http").replace(/\/$/, "");
}

/** Text for the standard input, ended by a line that it does not hold. */
function hereDocument(text: string): string {
  let end = "END";
  while (text.split("\n").includes(end)) end += "_";
  return `<<'${end}'\n${text}\n${end}`;
}
