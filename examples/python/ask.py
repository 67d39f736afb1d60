"""Sends one message and prints what each recipient made of it. Fails if nobody took it.

    python ask.py TOPIC TEXT            as in: python ask.py agent:echo "is anybody there?"
"""
import json
import os
import sys

from websockets.sync.client import connect

URL = os.environ.get("BUB_BUS_URL", "ws://127.0.0.1:7892")
ME = os.environ.get("BUB_AGENT_ID", "asker")


def main(topic, text):
    with connect(URL) as bus:
        def call(number, method, **params):
            bus.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}))
            # Nothing is subscribed here, so the next thing said is the reply.
            reply = json.loads(bus.recv())
            if "error" in reply:
                raise SystemExit(f"{method} was refused: {reply['error']['message']}")
            return reply["result"]

        call(1, "initialize", clientId=ME, clientInfo={"name": "ask", "version": "0.2.0"})
        payload = {"type": "plaintext_message", "text": text}
        result = call(2, "sendMessage", topic=topic, payload=payload)

    for ack in result["acks"]:
        if ack["processed"]:
            outcome = "processed it"
        elif ack["retryScheduled"]:
            outcome = f"wants it again in {ack['retrySeconds']:g} s"
        else:
            outcome = "declined"
        words = f" ({ack['message']})" if ack["message"] else ""
        print(f"{ack['client_id']} {outcome}{words}")
        if ack["payload"] is not None:
            print(json.dumps(ack["payload"], ensure_ascii=False))
    if not result["acks"]:
        print("it waits for its recipient" if result["success"] else "nobody is listening there")
    return 0 if result["success"] else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
