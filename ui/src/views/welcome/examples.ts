/** Lines that work as they are, for the address the broker listens on. */
export function examples(url: string): { listen: string; send: string; python: string } {
  const at = url === "ws://127.0.0.1:7892" ? "" : `BUB_BUS_URL=${url} `;
  return {
    listen: `${at}bub subscribe 'inbound:*'`,
    send: `${at}bub send-message --topic inbound:chat-1 --payload '{"type":"plaintext_message","text":"hello"}'`,
    python: `import asyncio, json, websockets

async def main():
    async with websockets.connect("${url}") as bus:
        call = lambda id, method, **params: bus.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        await call(1, "initialize", clientId="echo", clientInfo={"name": "echo", "version": "1.0"})
        await call(2, "subscribe", topic="inbound:*")
        async for text in bus:
            message = json.loads(text)
            if message.get("method") == "processMessage":
                print(message["params"]["payload"])
                await bus.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"processed": True}}))

asyncio.run(main())`,
  };
}
