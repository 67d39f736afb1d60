// Answers every request with what was asked.
//
//   node --import tsx echo.ts         then: python ../python/ask.py agent:echo "is anybody there?"
import WebSocket from "ws";

const url = process.env.BUB_BUS_URL ?? "ws://127.0.0.1:7892";
const me = process.env.BUB_AGENT_ID ?? "echo";

type Message = {
  id?: number;
  method?: string;
  params?: { from: string; topic: string; payload: unknown };
  result?: unknown;
  error?: { code: number; message: string };
};

const bus = new WebSocket(url);
const say = (envelope: object) => bus.send(JSON.stringify({ jsonrpc: "2.0", ...envelope }));

bus.on("open", () => {
  const clientInfo = { name: "echo", version: "0.2.0" };
  say({ id: 1, method: "initialize", params: { clientId: me, clientInfo } });
  say({ id: 2, method: "subscribe", params: { topic: `agent:${me}` } });
});

bus.on("message", (data) => {
  const { id, method, params, result, error } = JSON.parse(data.toString()) as Message;
  if (error) throw new Error(`the bus refused: ${error.message}`);
  if (id === 2 && result) console.log(`${me} is listening`);
  if (method === "processMessage" && params) {
    console.log(`${params.from} asks: ${JSON.stringify(params.payload)}`);
    // `payload` beside `processed` is the answer; the asker finds it in `acks`.
    say({ id, result: { processed: true, message: "echoed", payload: { echo: params.payload } } });
  }
});

bus.on("error", (error) => {
  console.error(`no bus at ${url}: ${error.message}`);
  process.exitCode = 1;
});
process.on("SIGINT", () => bus.close());
