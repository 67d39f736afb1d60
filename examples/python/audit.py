"""Writes down all that is said, and changes nothing: an observer (`continueAll`).

    python audit.py [PATTERN]           one line of JSON for each message; all of them without a pattern
"""
import asyncio
import json
import os
import sys

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")


async def main(pattern="*"):
    async with connect(URL) as bus:
        async def ask(number, method, **params):
            await bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))

        await ask(1, "initialize", clientId="audit", clientInfo={"name": "audit", "version": "0.2.0"})
        # Observers are called beside the others, always, and cannot stop a message.
        await ask(2, "subscribe", topic=pattern, policy="continueAll")
        async for text in bus:
            message = json.loads(text)
            if "error" in message:
                raise SystemExit(f"the bus refused: {message['error']}")
            if message.get("id") == 2 and "result" in message:
                print(f"auditing {pattern}", file=sys.stderr, flush=True)
            if message.get("method") == "processMessage":
                line = {key: message["params"][key] for key in ("from", "topic", "payload")}
                print(json.dumps(line, ensure_ascii=False), flush=True)
                # Not "processed": to write a message down is not to deal with it, and what nobody
                # else deals with should end as a dead letter.
                result = {"processed": False, "message": "written down"}
                await bus.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": message["id"]}))


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        pass
