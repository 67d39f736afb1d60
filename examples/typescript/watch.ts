// Shows which agents come and go.
//
//   node --import tsx watch.ts
import WebSocket from "ws";

const url = process.env.BUB_BUS_URL ?? "ws://127.0.0.1:7892";

/** What the bus says when an agent comes or goes, on `system:agent.*`. */
type AgentEvent = { type: "agent_event"; event: string; agent_id: string; timestamp: string };
type Message = {
  id?: number;
  method?: string;
  params?: { topic: string; payload: AgentEvent };
  result?: unknown;
  error?: { code: number; message: string };
};

const bus = new WebSocket(url);
const say = (envelope: object) => bus.send(JSON.stringify({ jsonrpc: "2.0", ...envelope }));
const here = new Set<string>();

bus.on("open", () => {
  const clientInfo = { name: "watch", version: "0.2.0" };
  say({ id: 1, method: "initialize", params: { clientId: "watch", clientInfo } });
  const topic = "system:agent.*";
  say({ id: 2, method: "subscribe", params: { topic, policy: "continueAll" } });
});

bus.on("message", (data) => {
  const { id, method, params, result, error } = JSON.parse(data.toString()) as Message;
  if (error) throw new Error(`the bus refused: ${error.message}`);
  if (id === 2 && result) console.log("watching");
  if (method === "processMessage" && params) {
    const { event, agent_id, timestamp } = params.payload;
    if (event === "connected") here.add(agent_id);
    if (event === "disconnected") here.delete(agent_id);
    console.log(
      `${timestamp} ${agent_id} ${event}; here: ${[...here].sort().join(", ") || "nobody"}`,
    );
    say({ id, result: { processed: true } });
  }
});

bus.on("error", (error) => {
  console.error(`no bus at ${url}: ${error.message}`);
  process.exitCode = 1;
});
process.on("SIGINT", () => bus.close());
