"""Offers a capability at the lobby door: who asks for `add` gets the sum.

    python lobby.py                     then: bub send-message --topic agent:adder --payload '{"type":"add","a":1,"b":2}'
"""
import asyncio
import json
import os

from websockets.asyncio.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")
ME = os.environ.get("BUB_AGENT_ID", "adder")
# What comes that is not of this shape never gets here: the broker answers it.
NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}
ADD = {"name": "add", "description": "Adds a and b.", "input_schema": NUMBERS, "output_schema": {}}


async def main():
    async with connect(f"{URL}/lobby") as lobby:
        register = {"sender_id": ME, "receiver_id": "global_lobby", "message_type": "REGISTER",
                    "payload": {"capabilities": [ADD]}, "auth_token": os.environ.get("BUB_AUTH_TOKEN")}
        await lobby.send(json.dumps(register))
        ack = json.loads(await lobby.recv())
        if ack["message_type"] != "REGISTER_ACK":
            raise SystemExit(f"the lobby refused: {ack['payload']['error']}")
        # Keep it: without it nobody, and so not even you, can use this id again.
        token = ack["payload"]["auth_token"]
        print(f"{ME} offers add", flush=True)
        async for text in lobby:
            message = json.loads(text)
            if message["message_type"] == "REQUEST":
                asked = message["payload"]
                print(f"{message['sender_id']} asks for {asked['a']} + {asked['b']}", flush=True)
                answer = {"sender_id": ME, "receiver_id": message["sender_id"], "message_type": "RESPONSE",
                          "payload": {"status": "success", "sum": asked["a"] + asked["b"]},
                          "conversation_id": message["conversation_id"], "auth_token": token}
                await lobby.send(json.dumps(answer))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
