"""One conversation. The default handler starts it with BUB_* set, when nobody listens to a topic.

In switchboard.toml:  [default_handler]
                      command = ["python3", "/path/to/spawned.py"]
or by handler.py, which does the same from outside.
"""
import asyncio
import json
import os

from websockets.asyncio.client import connect

URL = os.environ["BUB_BUS_URL"]
ME = os.environ["BUB_AGENT_ID"]
TOPIC = os.environ["BUB_DEFAULT_TOPIC"]  # the conversation that we were started for, as tg:123
CHAT = TOPIC.partition(":")[2]


async def main():
    async with connect(URL) as bus:
        async def ask(number, method, **params):
            await bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))

        await ask(1, "initialize", clientId=ME, clientInfo={"name": "spawned", "version": "0.2.0"})
        await ask(2, "subscribe", topic=f"agent:{ME}")
        # From here on the conversation is ours; the message that began it arrives first.
        await ask(3, "subscribe", topic=TOPIC)
        turn = 3
        async for text in bus:
            message = json.loads(text)
            if "error" in message:
                print(f"refused: {message['error']}", flush=True)
            if message.get("method") == "processMessage":
                said, turn = message["params"]["payload"], turn + 1
                result = {"processed": True, "message": "answered"}
                await bus.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": message["id"]}))
                reply = {"type": "plaintext_message", "text": f"You said: {said.get('text')}", "sender": ME}
                # Its reply is read by the loop above; waiting for it here would stop the reading.
                await ask(turn, "sendMessage", topic=f"outbound:{CHAT}", payload=reply)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
