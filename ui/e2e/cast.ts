import { CollabAgent } from "./collab-agent";
import { capability, LobbyAgent } from "./lobby-agent";

/** Agents at the lobby and at the collaboration door, for pictures: beside those of the demo, which they
 *  call at the bus door. Gives how to send them off. */
export async function enter(url: string): Promise<() => Promise<void>> {
  const lobby = await atTheLobby(url);
  const writers = await inASession(url);
  return async () => {
    for (const agent of [...lobby, ...writers]) await agent.leave();
  };
}

async function atTheLobby(url: string): Promise<LobbyAgent[]> {
  const concierge = await LobbyAgent.register(url, "concierge", [
    capability("plan_purchase", "Finds out what to buy where, and pays if it may"),
  ]);
  const payments = await LobbyAgent.register(url, "payments", [
    capability("charge", "Takes money from a card", ["invoicer", "desk"]),
    capability("refund", "Gives money back", []),
    capability("balance", "What is on the account"),
  ]);
  payments.answer = () => ({ status: "success", eur: 1204.5 });
  const crawler = await LobbyAgent.register(url, "crawler-7", [
    capability("crawl", "Reads a website"),
  ]);
  crawler.answer = () => ({ status: "success", pages: 12 });
  const shopper = await LobbyAgent.register(url, "shopper-A1");
  const rogue = await LobbyAgent.register(url, "rogue-007");

  for (const conversation of ["c-6a13", "c-41be"]) {
    for (const item of ["Bose QuietComfort", "Sony WH-1000XM5", "Sennheiser Momentum 4"])
      await crawler.request("price-hunter", "find_cheapest_price", { item }, conversation);
  }
  await shopper.request("crawler-7", "crawl", { site: "https://shop.example" }, "c-0b77");
  for (const eur of [999, 500]) await rogue.request("payments", "charge", { eur }, "c-9e02");

  concierge.answer = async (asked, conversation) => {
    const ask = concierge.request.bind(concierge);
    const { item } = asked;
    await ask("price-hunter", "find_cheapest_price", { item }, conversation);
    await ask("price-hunter", "price_history", { item, days: 30 }, conversation);
    await ask("payments", "charge", { item, eur: 128 }, conversation);
    await ask("payments", "balance", {}, conversation);
    return { status: "success", item, price: { eur: 128, at: "shop.example" }, paid: false };
  };
  const wish = { item: "Bose QuietComfort headphones", most: { eur: 150 }, by: "Friday" };
  await shopper.request("concierge", "plan_purchase", wish, "c-7f20");
  return [concierge, payments, crawler, shopper, rogue];
}

async function inASession(url: string): Promise<CollabAgent[]> {
  const writer = await CollabAgent.register(url, "writer", ["draft"]);
  const editor = await CollabAgent.register(url, "editor", ["review"]);
  const session = await editor.router("openSession", {
    participants: ["editor", "writer"],
    context: { topic: "Release notes 0.3", sharedState: { audience: "operators" } },
  });
  const sessionId = String(session.id);
  writer.answer = () => ({ status: "success", result: { words: 180 } });
  editor.answer = () => ({ status: "success", result: { remarks: 2 } });
  await editor.request("writer", "draft", { changes: 14 }, sessionId);
  await writer.router("updateSession", { sessionId, sharedState: { draft: 1, words: 180 } });
  await writer.request("editor", "review", { draft: 1 }, sessionId);
  return [writer, editor];
}
