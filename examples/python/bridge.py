"""A channel bridge whose channel is this terminal: what you type goes in, what comes out is printed.

    python bridge.py [CHAT]             your lines go to tg:CHAT; answers come from outbound:CHAT
"""
import asyncio
import json
import os
import sys

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")


async def main(chat="123"):
    async with connect(URL) as bus:
        async def ask(number, method, **params):
            await bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))

        async def listen():
            async for text in bus:
                message = json.loads(text)
                if "error" in message:
                    print(f"refused: {message['error']['message']}", flush=True)
                elif "result" in message and message["result"].get("success") is False:
                    print("(nobody took it)", flush=True)
                elif message.get("method") == "processMessage":
                    print(message["params"]["payload"].get("text"), flush=True)
                    result = {"processed": True, "message": "shown"}
                    await bus.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": message["id"]}))

        await ask(1, "initialize", clientId="bridge", clientInfo={"name": "bridge", "version": "0.2.0"})
        await ask(2, "subscribe", topic=f"outbound:{chat}")
        listening, number = asyncio.create_task(listen()), 2
        # Typing must not hold up the listening: read in a thread of its own.
        while line := await asyncio.to_thread(sys.stdin.readline):
            number += 1
            payload = {"type": "telegram_message", "text": line.strip(), "from": "you", "chat_id": chat}
            await ask(number, "sendMessage", topic=f"tg:{chat}", payload=payload)
        listening.cancel()


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        pass
