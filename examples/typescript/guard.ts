// Stands before other agents and turns away those who talk too much: an interceptor.
//
//   node --import tsx guard.ts 'inbound:*' 5      at most 5 messages a minute from one sender
//
// The newest subscription is asked first, so start the guard after those whom it guards.
import WebSocket from "ws";

const url = process.env.BUB_BUS_URL ?? "ws://127.0.0.1:7892";
const topic = process.argv[2] ?? "inbound:*";
const most = Number(process.argv[3] ?? 5);
const MINUTE = 60_000;

type Message = {
  id?: number;
  method?: string;
  params?: { from: string; topic: string; payload: unknown };
  result?: unknown;
  error?: { code: number; message: string };
};

const bus = new WebSocket(url);
const say = (envelope: object) => bus.send(JSON.stringify({ jsonrpc: "2.0", ...envelope }));
const lately = new Map<string, number[]>();

function mayPass(sender: string, now = Date.now()): boolean {
  const times = (lately.get(sender) ?? []).filter((time) => time > now - MINUTE);
  const passes = times.length < most;
  lately.set(sender, passes ? [...times, now] : times);
  return passes;
}

bus.on("open", () => {
  const clientInfo = { name: "guard", version: "0.2.0" };
  say({ id: 1, method: "initialize", params: { clientId: "guard", clientInfo } });
  say({ id: 2, method: "subscribe", params: { topic } });
});

bus.on("message", (data) => {
  const { id, method, params, result, error } = JSON.parse(data.toString()) as Message;
  if (error) throw new Error(`the bus refused: ${error.message}`);
  if (id === 2 && result) console.log(`guarding ${topic}`);
  if (method === "processMessage" && params) {
    const passes = mayPass(params.from);
    console.log(`${params.from} ${passes ? "may pass" : "is turned away"}`);
    // Who does not process a message passes it on; who stops it has the last word.
    const stop = { processed: true, stopPropagation: true, message: "rate limit exceeded" };
    say({ id, result: passes ? { processed: false, message: "may pass" } : stop });
  }
});

bus.on("error", (error) => {
  console.error(`no bus at ${url}: ${error.message}`);
  process.exitCode = 1;
});
process.on("SIGINT", () => bus.close());
