"""A client of the second generation: letters with `from`, `to` and `messageId`, in camelCase.

It calls a place an `address`, expects `subscriptionId`, `accepted`, `messageId` and `deliveredTo`, may
ask for a retry (`shouldRetry`, `retrySeconds`), and drops the connection at once when an envelope has
a key that JSON-RPC does not know. It is written without asyncio: one request, then its answer.
"""
import json
import sys
from collections import deque
from contextlib import ExitStack

from websockets.sync.client import connect

ENVELOPES = [{"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}, {"jsonrpc", "id", "method", "params"}]
PATIENCE = 20
connections = ExitStack()


class Refused(Exception):
    pass


class Peer:
    def __init__(self, url, clientId, address=None):
        self.clientId, self.ws = clientId, connections.enter_context(connect(url))
        self.last, self.letters, self.answers = 0, deque(), {}
        info = {"name": "second", "version": "0.1.5"}
        self.hello = self.call("initialize", clientId=clientId, clientInfo=info)
        if address:
            self.subscribe(address)

    def receive(self):
        envelope = json.loads(self.ws.recv(timeout=PATIENCE))
        if set(envelope) not in ENVELOPES or envelope["jsonrpc"] != "2.0":
            self.ws.close(1002)
            sys.exit(f"{self.clientId} drops the connection: not an envelope: {envelope}")
        if "method" in envelope:
            self.letters.append(envelope)
        else:
            self.answers[envelope["id"]] = envelope

    def ask(self, method, **params):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.ws.send(json.dumps(request))
        return self.last

    def answer_to(self, id):
        while id not in self.answers:
            self.receive()
        answer = self.answers.pop(id)
        if "error" in answer:
            assert set(answer["error"]) <= {"code", "message", "data"}, answer
            raise Refused(answer["error"]["code"])
        assert isinstance(answer["result"], dict), f"the result is no object: {answer}"
        return answer["result"]

    def call(self, method, **params):
        return self.answer_to(self.ask(method, **params))

    def subscribe(self, address):
        made = self.call("subscribe", address=address)
        assert made["success"] is True and made["subscriptionId"].startswith("sub_"), made
        return made["subscriptionId"]

    def post(self, to, **payload):
        letter = {"from": self.clientId, "to": to, "messageId": "my-own-1", "payload": payload}
        return self.ask("sendMessage", **letter)

    def receipt(self, id):
        receipt = self.answer_to(id)
        assert type(receipt["accepted"]) is bool and isinstance(receipt["messageId"], str), receipt
        assert type(receipt["deliveredTo"]) is int, f"deliveredTo is a number: {receipt}"
        return receipt

    def letter(self):
        while not self.letters:
            self.receive()
        letter = self.letters.popleft()
        for key in ("from", "to", "messageId", "payload"):
            assert key in letter["params"], f"{key} is missing: {letter}"
        return letter["id"], letter["params"]

    def reply(self, id, **result):
        self.ws.send(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))
