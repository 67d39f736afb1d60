// A conversation as JSON. What agents wrote stays as they wrote it: numbers keep all their digits.
import type { ConversationDetail, MessageDetail, SessionView } from "../../api/generated";
import { problem } from "../../parts/json";

/** The whole conversation, one message a line. */
export function toJson(
  { id, session }: Pick<ConversationDetail, "id" | "session">,
  messages: readonly MessageDetail[],
): string {
  const head = [
    member("format", JSON.stringify("switchboard conversation 1")),
    member("id", JSON.stringify(id)),
    member("session", session === null ? "null" : shared(session)),
  ];
  const lines = messages.map(message).join(",\n");
  return `{\n${head.join(",\n")},\n"messages":[\n${lines}\n]\n}\n`;
}

function message({ row, payloadText, deliveries, ...rest }: MessageDetail): string {
  return object({
    ...texts({ ...row, payload: undefined }),
    payload: raw(payloadText),
    ...texts(rest),
    deliveries: list(
      deliveries.map(({ attempts, ...delivery }) =>
        object({
          ...texts(delivery),
          attempts: list(
            attempts.map(({ payloadText: answer, ...attempt }) =>
              object({ ...texts(attempt), payload: answer === null ? "null" : raw(answer) }),
            ),
          ),
        }),
      ),
    ),
  });
}

function shared({ sharedStateText, ...session }: SessionView): string {
  return object({ ...texts(session), sharedState: raw(sharedStateText) });
}

/** What was written, if it is JSON; else as a text. */
function raw(text: string): string {
  return problem(text) === null ? text : JSON.stringify(text);
}

/** Each value as JSON; what is undefined is left out. */
function texts(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, JSON.stringify(value)]],
    ),
  );
}

function object(members: Record<string, string>): string {
  return `{${Object.entries(members)
    .map(([key, text]) => member(key, text))
    .join(",")}}`;
}

function member(key: string, text: string): string {
  return `${JSON.stringify(key)}:${text}`;
}

function list(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}
