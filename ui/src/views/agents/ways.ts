import type { AgentView, Door } from "../../api/generated";
import { quote } from "../../parts/shell";

/** A way by which others reach an agent: where to, and what can be copied. */
export interface Way {
  /** The door, or the program that goes through one. */
  by: string;
  /** The door it is, where it is one. */
  door: Door | null;
  /** Where to, in few words. */
  address: string;
  /** What is copied, and what a button calls it. */
  copies: { label: string; text: string }[];
}

/** The ways to an agent, whichever door it came in by: all of them lead to it. */
export function ways(
  agent: Pick<AgentView, "id" | "alias" | "capabilities">,
  brokerUrl: string,
): Way[] {
  const ws = brokerUrl.replace(/\/$/, "");
  const http = ws.replace(/^ws/, "http");
  const { id, alias } = agent;
  const capability = agent.capabilities[0]?.name ?? "CAPABILITY";
  const topic = `agent:${id}`;
  const payload = JSON.stringify({ type: capability, capability });
  const lobby = {
    sender_id: "YOU",
    receiver_id: id,
    message_type: "REQUEST",
    payload: { capability_name: capability },
    conversation_id: "1",
    auth_token: "TOKEN",
  };
  const collaboration = {
    id: "1",
    type: "request",
    from: "YOU",
    to: id,
    payload: { action: capability, parameters: {}, timeout: 30_000 },
  };
  const aacp = {
    sender_agent_id: "YOU",
    receiver_agent_id: alias,
    message_type: "request",
    content: { action: capability, input: {} },
  };
  const messages = `${http}/api/v1/protocol/messages`;
  const curl = `curl -sS ${quote(messages)} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' --data-binary ${quote(JSON.stringify(aacp))}`;
  return [
    {
      by: "Bus",
      door: "bus",
      address: topic,
      copies: [{ label: "Copy the agent's address", text: topic }],
    },
    {
      by: "Lobby",
      door: "lobby",
      address: `REQUEST → ${id}`,
      copies: [{ label: `Copy a REQUEST for ${ws}/lobby`, text: JSON.stringify(lobby) }],
    },
    {
      by: "Collaboration",
      door: "collaboration",
      address: `request → ${id}`,
      copies: [{ label: `Copy a request for ${ws}/collab`, text: JSON.stringify(collaboration) }],
    },
    {
      by: "AACP",
      door: "aacp",
      address: "POST /api/v1/protocol/messages",
      copies: [
        { label: "Copy the address to post to", text: messages },
        { label: "Copy as curl", text: curl },
      ],
    },
    {
      by: "bub",
      door: null,
      address: `bub send-message --topic ${quote(topic)}`,
      copies: [
        {
          label: "Copy the bub command",
          text: `bub send-message --topic ${quote(topic)} --payload ${quote(payload)}`,
        },
      ],
    },
  ];
}
