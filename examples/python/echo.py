"""Answers every request with what was asked.

    python echo.py                      then: python ask.py agent:echo "is anybody there?"
"""
import asyncio
import json
import os

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")
ME = os.environ.get("BUB_AGENT_ID", "echo")


async def main():
    async with connect(URL) as bus:
        async def ask(number, method, **params):
            await bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))

        await ask(1, "initialize", clientId=ME, clientInfo={"name": "echo", "version": "0.2.0"})
        await ask(2, "subscribe", topic=f"agent:{ME}")
        async for text in bus:
            message = json.loads(text)
            if "error" in message:
                raise SystemExit(f"the bus refused: {message['error']}")
            if message.get("id") == 2 and "result" in message:
                print(f"{ME} is listening", flush=True)
            if message.get("method") == "processMessage":
                payload = message["params"]["payload"]
                print(f"{message['params']['from']} asks: {payload}", flush=True)
                # `payload` beside `processed` is the answer; the asker finds it in `acks`.
                result = {"processed": True, "message": "echoed", "payload": {"echo": payload}}
                await bus.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": message["id"]}))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
