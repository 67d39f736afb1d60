"""A client of the collaboration protocol: one JSON message a frame at `/collab`.

The broker is `router`, and is asked for everything by requests. Answers find their way by
`correlationId`; all else lies in the inbox, in the order in which it came.
"""
import asyncio
import json
import uuid
from contextlib import suppress
from datetime import datetime, timezone

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

ROUTER = "router"
PATIENCE = 20
LOW, NORMAL, HIGH, URGENT = range(4)
FIELDS = {"id", "type", "from", "to", "timestamp", "priority", "payload", "metadata"}


class Refused(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code, self.message = error["code"], error["message"]


def now():
    return datetime.now(timezone.utc).isoformat()


def checked(heard):
    """Any message at all, in the shape that all messages have."""
    assert FIELDS <= heard.keys() <= FIELDS | {"correlationId"}, f"wrong fields: {heard}"
    assert heard["type"] in ("request", "response", "broadcast", "event"), heard
    assert heard["priority"] in (LOW, NORMAL, HIGH, URGENT), heard
    assert isinstance(heard["metadata"]["conversationDepth"], int), heard
    datetime.fromisoformat(heard["timestamp"])
    if heard["type"] == "response":
        payload = heard["payload"]
        assert payload["status"] in ("success", "error", "partial"), heard
        if payload["status"] == "error":
            code = payload["error"]["code"]
            assert code and code == code.upper() and " " not in code, f"no upper-case word: {heard}"
            assert payload["error"]["message"], heard
    return heard


class Agent:
    """`async with Agent(url, "me", "sing") as agent` is connected and registered."""

    def __init__(self, url, agent_id, *capabilities, token=None, status="ready", register=True):
        self.url, self.id, self.token = url, agent_id, token
        self.capabilities, self.status, self.wanted = list(capabilities), status, register
        self.answers, self.inbox = {}, asyncio.Queue()

    async def __aenter__(self):
        self.socket = await connect(self.url + "/collab", max_size=None)
        self.reader = asyncio.create_task(self.read())
        if self.wanted:
            self.token = (await self.register()).get("authToken") or self.token
        return self

    async def __aexit__(self, *_):
        await self.socket.close()
        await self.reader

    async def read(self):
        with suppress(ConnectionClosed):
            async for text in self.socket:
                heard = checked(json.loads(text))
                waiting = self.answers.get(heard.get("correlationId"))
                (waiting or self.inbox).put_nowait(heard)
        self.inbox.put_nowait(None)

    def message(self, kind, to, payload, priority=NORMAL, **more):
        base = {"id": str(uuid.uuid4()), "type": kind, "from": self.id, "to": to, "timestamp": now()}
        base |= {"priority": priority, "payload": payload, "metadata": {"conversationDepth": 0}}
        return base | more

    async def write(self, said):
        await self.socket.send(said if isinstance(said, (str, bytes)) else json.dumps(said))

    async def hear(self, kind=None, patience=PATIENCE):
        """The next message that is no answer to a question of ours."""
        heard = await asyncio.wait_for(self.inbox.get(), patience)
        assert heard is not None, f"{self.id} was hung up on"
        assert kind in (None, heard["type"]), f"{self.id} wanted a {kind}: {heard}"
        return heard

    async def ask(self, to, action, parameters, priority=NORMAL, **more):
        """Sends a request; returns the id that its answers will carry."""
        payload = {"action": action, "parameters": parameters}
        payload |= {"timeout": more.pop("timeout")} if "timeout" in more else {}
        request = self.message("request", to, payload, priority, **more)
        self.answers[request["id"]] = asyncio.Queue()
        await self.write(request)
        return request["id"]

    async def answer(self, request_id, patience=PATIENCE):
        """The next response to this request, whole."""
        heard = await asyncio.wait_for(self.answers[request_id].get(), patience)
        assert heard["type"] == "response" and heard["to"] in (self.id, [self.id], ""), heard
        return heard

    async def result(self, request_id):
        """The result of this request, which must be a success."""
        heard = await self.answer(request_id)
        if heard["payload"]["status"] == "error":
            raise Refused(heard["payload"]["error"])
        return heard["payload"].get("result")

    async def call(self, to, action, parameters, **more):
        return await self.result(await self.ask(to, action, parameters, **more))

    async def router(self, action, /, **parameters):
        return await self.call(ROUTER, action, parameters)

    async def refused(self, action, /, *codes, **parameters):
        """The router says no, with one of these codes if any are named."""
        return await refusal(self.router(action, **parameters), *codes)

    async def register(self, **instead):
        me = {"id": self.id, "name": self.id, "capabilities": self.capabilities, "status": self.status}
        me |= {"metadata": {"version": "1.0", "startedAt": now()}}
        if self.token is not None:
            me["authToken"] = self.token
        return await self.router("register", **me | instead)

    async def respond(self, request, result=None, status="success", **more):
        payload = {"status": status} | ({"error": more.pop("error")} if "error" in more else {"result": result})
        said = self.message("response", request["from"], payload, correlationId=request["id"], **more)
        await self.write(said)
        return said

    async def subscribe(self, *topics, **filters):
        about = {"subscriberId": self.id, "topics": list(topics)}
        return await self.router("subscribe", **about, **({"filter": filters} if filters else {}))

    async def tell(self, kind, topic, content, **more):
        """A broadcast, or an event."""
        await self.write(self.message(kind, "*", {"topic": topic, "content": content}, **more))

    async def find(self, *required, preferred=None):
        query = {"requiredCapabilities": list(required)}
        query |= {"preferredCapabilities": preferred} if preferred else {}
        return [agent["id"] for agent in await self.router("findAgents", **query)]

    async def hears_nothing(self):
        """What was sent before this has been dealt with, and nothing came of it."""
        await self.router("findAgents", requiredCapabilities=["silence"])
        assert self.inbox.empty(), f"{self.id} heard {self.inbox.get_nowait()}"


async def refusal(call, *codes):
    try:
        raise AssertionError(f"this was not refused: {await call}")
    except Refused as refused:
        assert not codes or refused.code in codes, f"wanted {codes}, got {refused}"
        return refused
