"""A client of the first generation (0.1.0), as its author read the base protocol.

It registers one method, `sendMessage`, and answers -32601 to all others. It calls a place a `topic`,
sends whatever payload it has, and reads nothing of a reply but `success` and `stopPropagation`.
"""
import asyncio
import itertools
import json
import sys

import websockets

ENVELOPE = {"jsonrpc", "id", "method", "params", "result", "error"}


class RpcError(Exception):
    pass


class Client:
    def __init__(self, name, answer=(True, False)):
        self.name, self.answer = name, answer
        self.methods = {"sendMessage": self.on_message}
        self.ids, self.waiting = itertools.count(1), {}
        self.inbox, self.refused = asyncio.Queue(), []

    async def connect(self, url, initialize=True):
        self.socket = await websockets.connect(url)
        self.reader = asyncio.create_task(self.read())
        if initialize:
            info = {"name": "first", "version": "0.1.0"}
            return await self.call("initialize", {"clientId": self.name, "clientInfo": info})

    async def read(self):
        async for text in self.socket:
            message = json.loads(text)
            if not set(message) <= ENVELOPE or message["jsonrpc"] != "2.0":
                sys.exit(f"this is not JSON-RPC 2.0: {text}")
            if "method" in message:
                await self.serve(message)
            else:
                self.waiting.pop(message["id"]).set_result(message)

    async def serve(self, request):
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        if handler := self.methods.get(request["method"]):
            reply["result"] = handler(request["params"])
        else:
            self.refused.append(request["method"])
            reply["error"] = {"code": -32601, "message": "Method not found"}
        await self.socket.send(json.dumps(reply))

    def on_message(self, params):
        self.inbox.put_nowait((params["topic"], params["payload"]))
        success, stop = self.answer
        return {"success": success, "stopPropagation": stop}

    async def call(self, method, params):
        number = next(self.ids)
        self.waiting[number] = asyncio.get_running_loop().create_future()
        request = {"jsonrpc": "2.0", "method": method, "params": params, "id": number}
        await self.socket.send(json.dumps(request))
        reply = await asyncio.wait_for(self.waiting[number], 20)
        if "error" in reply:
            raise RpcError(reply["error"]["code"])
        assert isinstance(reply["result"], dict), f"{method}: the result is no object: {reply}"
        return reply["result"]

    async def subscribe(self, topic):
        assert (await self.call("subscribe", {"topic": topic}))["success"] is True

    async def send(self, topic, payload):
        reply = await self.call("sendMessage", {"topic": topic, "payload": payload})
        return reply["success"], reply["stopPropagation"]

    async def heard(self):
        return await asyncio.wait_for(self.inbox.get(), 20)
