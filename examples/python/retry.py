"""Hands out a file, and asks to be asked again while it is not there yet.

    python retry.py report.txt          then: python ask.py agent:reporter "the report, please"
"""
import asyncio
import json
import os
import sys
from pathlib import Path

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")
ME = os.environ.get("BUB_AGENT_ID", "reporter")


def process(report):
    """What to answer: the bus keeps the message on disk and comes back with it."""
    if not report.exists():
        why = f"{report.name} is not written yet"
        return {"processed": False, "should_retry": True, "retry_seconds": 1, "message": why}
    return {"processed": True, "message": "here it is", "payload": {"text": report.read_text()}}


async def main(report):
    async with connect(URL) as bus:
        async def ask(number, method, **params):
            await bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))

        await ask(1, "initialize", clientId=ME, clientInfo={"name": "retry", "version": "0.2.0"})
        await ask(2, "subscribe", topic=f"agent:{ME}")
        async for text in bus:
            message = json.loads(text)
            if "error" in message:
                raise SystemExit(f"the bus refused: {message['error']}")
            if message.get("id") == 2 and "result" in message:
                print(f"{ME} is listening", flush=True)
            if message.get("method") == "processMessage":
                result = process(report)
                print(result["message"], flush=True)
                await bus.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": message["id"]}))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    try:
        asyncio.run(main(Path(sys.argv[1])))
    except KeyboardInterrupt:
        pass
