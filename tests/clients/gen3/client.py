"""A client of the third generation (0.2.0): the extended protocol, agents that process messages.

Every payload has a `type`. The bus calls `processMessage`, and the answer is `processed`,
`should_retry`, `retry_seconds` and `message`. The reply to `sendMessage` is read by its `acks`.
Request ids are numbers and strings by turns, as several libraries of that time make them.
"""
import asyncio
import itertools
import json
from contextlib import suppress

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

PATIENCE = 20


class Error(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']} {error['message']}: {error.get('data')}")
        self.code = error["code"]


class Agent:
    """`async with Agent(url, "me") as agent` is connected and has introduced itself."""

    def __init__(self, url, agent_id, *topics, **initialize):
        self.url, self.id, self.topics, self.more = url, agent_id, topics, initialize
        self.ids = (n if n % 2 else f"req-{n}" for n in itertools.count(1))
        self.replies, self.asked = {}, asyncio.Queue()

    async def __aenter__(self):
        self.socket = await connect(self.url)
        self.reader = asyncio.create_task(self.read())
        self.bus = await self.call(
            "initialize", clientId=self.id, clientInfo={"name": "bub", "version": "0.2.0"}, **self.more
        )
        for topic in self.topics:
            await self.subscribe(topic)
        return self

    async def __aexit__(self, *_):
        await self.socket.close()

    async def read(self):
        with suppress(ConnectionClosed):
            async for text in self.socket:
                said = json.loads(text)
                # The replies to a batch come as one array.
                for envelope in said if isinstance(said, list) else [said]:
                    self.take(envelope)

    def take(self, envelope):
        if envelope.get("method") == "processMessage":
            self.asked.put_nowait((envelope["id"], envelope["params"]))
        elif "result" in envelope or "error" in envelope:
            self.replies.pop(envelope["id"]).set_result(envelope)
        else:
            raise SystemExit(f"{self.id} knows only processMessage: {envelope}")

    def request(self, method, **params):
        """An envelope, and the future of its reply."""
        request_id = next(self.ids)
        self.replies[request_id] = asyncio.get_running_loop().create_future()
        envelope = {"jsonrpc": "2.0", "method": method, "params": params, "id": request_id}
        return envelope, self.replies[request_id]

    async def call(self, method, **params):
        envelope, reply = self.request(method, **params)
        await self.socket.send(json.dumps(envelope))
        reply = await asyncio.wait_for(reply, PATIENCE)
        if "error" in reply:
            raise Error(reply["error"])
        assert isinstance(reply["result"], dict), f"{method}: the result is no object: {reply}"
        return reply["result"]

    async def subscribe(self, topic, **policy):
        assert (await self.call("subscribe", topic=topic, **policy))["success"]

    def send(self, topic, kind="plaintext_message", **payload):
        """Sends without waiting; the task's result is the reply."""
        return asyncio.create_task(
            self.call("sendMessage", topic=topic, payload={"type": kind, **payload})
        )

    async def message(self):
        """The next message to process: the id to answer to, and its params."""
        return await asyncio.wait_for(self.asked.get(), PATIENCE)

    async def answer(self, request_id, processed, message="", **more):
        result = {"processed": processed, "should_retry": False, "retry_seconds": 0}
        result |= {"message": message, **more}
        result = {key: value for key, value in result.items() if value is not None}
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "result": result, "id": request_id}))

    async def process(self, **more):
        request_id, params = await self.message()
        await self.answer(request_id, True, **more)
        return params
