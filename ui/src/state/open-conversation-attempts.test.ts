import { beforeEach, expect, test } from "vitest";
import { Client } from "../api/client";
import { CallError } from "../api/error";
import type { Call, MessageDetail } from "../api/generated";
import { detail, row, rows } from "../testing/fixtures";
import { Attempts } from "./open-conversation-attempts.svelte";

const AT = "2026-11-16T12:04:12Z";
let asked: string[];
let answers: (() => void)[];
let answer: () => Promise<MessageDetail>;
let attempts: Attempts;

beforeEach(() => {
  asked = [];
  answers = [];
  const delivery = {
    id: 1,
    agent: "hunter",
    door: "bus" as const,
    pattern: null,
    observer: false,
    state: "processed" as const,
    retryAt: null,
    attempts: [1, 2].map((number) => ({
      number,
      startedAt: AT,
      endedAt: AT,
      outcome: number === 1 ? ("timedOut" as const) : ("processed" as const),
      message: null,
      payloadText: null,
    })),
  };
  answer = () => Promise.resolve(detail({ deliveries: [delivery] }));
  const call = ({ params }: Call) => {
    asked.push((params as { id: string }).id);
    return new Promise((done) => answers.push(() => done(answer())));
  };
  attempts = new Attempts(new Client({ call, watch: () => () => undefined }));
});

async function answerAll() {
  while (answers.length > 0) {
    answers.splice(0).forEach((done) => done());
    await new Promise((done) => setTimeout(done));
  }
}

test("who was asked how often is read once for what is in sight, a few at a time", async () => {
  attempts.want(rows(1, 9));
  expect(asked).toHaveLength(3);
  expect(attempts.of(row(1).id)).toEqual([]);
  await answerAll();
  expect(asked).toHaveLength(9);
  expect(attempts.of(row(1).id)).toMatchObject([
    { agent: "hunter", number: 1, outcome: "timedOut" },
    { agent: "hunter", number: 2, outcome: "processed" },
  ]);
  attempts.want(rows(1, 9));
  expect(asked).toHaveLength(9);
});

test("what has moved on is read again, what left the sight before its turn is not read", async () => {
  attempts.want([row(1, { state: "waiting" })]);
  await answerAll();
  attempts.want([row(1, { state: "processed" })]);
  await answerAll();
  expect(asked).toEqual([row(1).id, row(1).id]);
  attempts.want(rows(10, 30));
  attempts.want(rows(40, 40));
  await answerAll();
  expect(asked).toHaveLength(2 + 3 + 1);
});

test("what cannot be read is left out", async () => {
  answer = () => Promise.reject(new CallError("notFound", "it is gone"));
  attempts.want([row(1)]);
  await answerAll();
  expect(attempts.of(row(1).id)).toEqual([]);
});
