"""Finds who can do something, by whichever door they came, and asks the best of them.

    python collaborate.py add '{"a": 1, "b": 2}'        while lobby.py runs
"""
import asyncio
import itertools
import json
import os
import sys

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")
ME = os.environ.get("BUB_AGENT_ID", f"collaborator-{os.getpid()}")


async def main(action, parameters):
    async with connect(f"{URL}/collab") as door:
        numbers = itertools.count(1)

        async def ask(to, action, parameters):
            message_id = f"{ME}-{next(numbers)}"
            payload = {"action": action, "parameters": parameters}
            await door.send(json.dumps({"id": message_id, "type": "request", "from": ME, "to": to, "payload": payload}))
            while True:
                message = json.loads(await door.recv())
                if message.get("correlationId") == message_id:
                    answer = message["payload"]
                    if answer["status"] == "error":
                        raise SystemExit(f"{message['from']}: {answer['error']['message']}")
                    return message["from"], answer["result"]

        await ask("router", "register", {"id": ME, "name": "collaborate", "capabilities": []})
        _, found = await ask("router", "findAgents", {"requiredCapabilities": [action]})
        if not found:
            raise SystemExit(f"nobody can {action}")
        who, result = await ask(found[0]["id"], action, parameters)
        print(f"{who} answers: {json.dumps(result)}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
