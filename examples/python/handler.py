"""A default handler of your own: starts an agent for each topic that nobody listens to.

    python handler.py python3 spawned.py
"""
import asyncio
import json
import os
import sys

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")
MOST = 8  # agents at a time; a topic costs its sender nothing, a process costs us something


async def main(command):
    started = {}
    async with connect(URL) as bus:
        async def ask(number, method, **params):
            await bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))

        await ask(1, "initialize", clientId="handler", clientInfo={"name": "handler", "version": "0.2.0"})
        await ask(2, "subscribe", topic="system:unrouted")
        try:
            async for text in bus:
                message = json.loads(text)
                if "error" in message:
                    raise SystemExit(f"the bus refused: {message['error']}")
                if message.get("id") == 2 and "result" in message:
                    print("handler is listening", flush=True)
                if message.get("method") == "processMessage":
                    topic = message["params"]["payload"]["topic"]
                    started = {of: agent for of, agent in started.items() if agent.returncode is None}
                    if topic not in started and len(started) < MOST:
                        agent_id = "agent-" + topic.replace(":", "-")
                        env = {"BUB_BUS_URL": URL, "BUB_AGENT_ID": agent_id, "BUB_DEFAULT_TOPIC": topic}
                        started[topic] = await asyncio.create_subprocess_exec(*command, env=os.environ | env)
                        print(f"started {agent_id}", flush=True)
                    # "Processed" is a promise: whoever now subscribes to the topic gets the message.
                    result = {"processed": topic in started, "message": "an agent is on its way"}
                    if topic not in started:
                        result |= {"should_retry": True, "message": f"{MOST} agents are busy"}
                    await bus.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": message["id"]}))
        finally:
            for agent in started.values():
                if agent.returncode is None:
                    agent.terminate()


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1:] or [sys.executable, "spawned.py"]))
    except KeyboardInterrupt:
        pass
