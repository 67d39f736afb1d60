/** Lines that work as they are, for the address the broker listens on. */
export function examples(url: string): { listen: string; send: string; python: string } {
  const at = url === "ws://127.0.0.1:7892" ? "" : `BUB_BUS_URL=${url} `;
  return {
    listen: `${at}bub subscribe 'inbound:*'`,
    send: `${at}bub send-message --topic inbound:chat-1 --payload '{"type":"plaintext_message","text":"hello"}'`,
    python: `import asyncio, json, websockets

async def main():
    async with websockets.connect("${url}") as bus:
        say = lambda **words: bus.send(json.dumps({"jsonrpc": "2.0", **words}))
        me = {"clientId": "echo", "clientInfo": {"name": "echo", "version": "1.0"}}
        await say(id=1, method="initialize", params=me)
        await say(id=2, method="subscribe", params={"topic": "inbound:*"})
        async for text in bus:
            call = json.loads(text)
            if call.get("method") == "processMessage":
                print(call["params"]["payload"])
                await say(id=call["id"], result={"processed": True})

asyncio.run(main())`,
  };
}
