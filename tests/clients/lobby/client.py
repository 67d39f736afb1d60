"""A client of the lobby: one JSON message a frame, the token in every message.

There are two ways in. `Agent` opens `/lobby` and registers there; `register_by_http` asks
`POST /api/register`, and `Agent(…, token=…, door="/ws/ID?token=…")` goes on from there.
"""
import asyncio
import json
import urllib.error
import urllib.request
import uuid

from websockets.asyncio.client import connect

LOBBY = "global_lobby"
PATIENCE = 20
FIELDS = {"sender_id", "receiver_id", "message_type", "payload"}
MORE = {"conversation_id", "auth_token", "priority"}


def capability(name, authorized=None, **more):
    """As the specification has it: everything but the name open."""
    can = {"name": name, "description": f"does {name}", "input_schema": {}, "output_schema": {}}
    return can | {"authorized_requester_ids": authorized} | more


def message(sender, receiver, kind, payload, conversation=None, token=None, **more):
    base = {"sender_id": sender, "receiver_id": receiver, "message_type": kind, "payload": payload}
    return base | {"conversation_id": conversation, "auth_token": token, **more}


class Agent:
    """`async with Agent(url, "me", [capability("sing")]) as agent` is connected and registered."""

    def __init__(self, url, agent_id, capabilities=(), token=None, door="/lobby"):
        self.url, self.door, self.id, self.token = url, door, agent_id, token
        self.capabilities = list(capabilities)

    async def __aenter__(self):
        self.socket = await connect(self.url + self.door, max_size=None)
        if self.token is None:
            ack = await self.register()
            assert ack["message_type"] == "REGISTER_ACK", ack
            self.token = ack["payload"]["auth_token"]
        return self

    async def __aexit__(self, *_):
        await self.socket.close()

    async def register(self, token=None):
        await self.say("REGISTER", LOBBY, {"capabilities": self.capabilities}, auth_token=token)
        return await self.hear()

    async def write(self, said):
        await self.socket.send(said if isinstance(said, (str, bytes)) else json.dumps(said))

    async def say(self, kind, receiver, payload, conversation=None, **instead):
        """Sends a message; keywords replace what it would carry."""
        await self.write(message(self.id, receiver, kind, payload, conversation, self.token) | instead)

    async def hear(self, kind=None):
        """The next message, of this kind, in the shape that all messages have."""
        heard = json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE))
        assert FIELDS <= heard.keys() <= FIELDS | MORE, f"wrong fields: {heard}"
        assert heard["receiver_id"] == self.id, f"not for {self.id}: {heard}"
        assert heard.get("auth_token") is None, f"a token travels: {heard}"
        assert isinstance(heard["payload"], dict), heard
        assert kind in (None, heard["message_type"]), f"{self.id} wanted {kind}: {heard}"
        return heard

    async def hears_nothing(self):
        """What was sent before this has been dealt with, and nothing came of it."""
        await self.say("DISCOVER_SERVICES", LOBBY, {"capability_name": "silence"}, "still there?")
        heard = await self.hear("SERVICES_AVAILABLE")
        assert heard["payload"]["discovered_for_capability"] == "silence", heard

    async def request(self, provider, name, conversation=None, /, **data):
        """Sends a REQUEST; returns its conversation."""
        conversation = conversation or str(uuid.uuid4())
        await self.say("REQUEST", provider, {"capability_name": name, **data}, conversation)
        return conversation

    async def respond(self, request, status="success", /, **payload):
        answer = {"status": status, **payload}
        await self.say("RESPONSE", request["sender_id"], answer, request.get("conversation_id"))

    async def response(self, conversation, status="success"):
        """The RESPONSE in this conversation."""
        heard = await self.hear("RESPONSE")
        assert heard["conversation_id"] == conversation, f"wanted {conversation}: {heard}"
        assert heard["payload"]["status"] == status, f"wanted {status}: {heard}"
        return heard["payload"]

    async def fails(self, provider, name, /, **data):
        """A request that ends in a RESPONSE that says why not; returns the reason."""
        conversation = await self.request(provider, name, **data)
        return (await self.response(conversation, "error"))["error"]

    async def discover(self, **query):
        """The services found: for each agent the names of what it offers."""
        await self.say("DISCOVER_SERVICES", LOBBY, query, "discovery")
        heard = await self.hear("SERVICES_AVAILABLE")
        assert heard["sender_id"] == LOBBY and heard["conversation_id"] == "discovery", heard
        found = heard["payload"]["services_found"]
        return {it["agent_id"]: [can["name"] for can in it["relevant_capabilities"]] for it in found}

    async def error(self, *words):
        """The lobby's ERROR, in whose text all these words are."""
        heard = await self.hear("ERROR")
        assert heard["sender_id"] == LOBBY, heard
        text = heard["payload"]["error"]
        missing = [word for word in words if word not in text]
        assert not missing, f"{missing} not in {heard}"
        return heard["payload"]


def register_by_http(url, agent_id, capabilities=(), token=None, **headers):
    """HTTP status and the JSON answer of `POST /api/register`."""
    said = message(agent_id, LOBBY, "REGISTER", {"capabilities": list(capabilities)}, None, token)
    return post(url, "/api/register", json.dumps(said), headers)


def post(url, path, body, headers):
    address = url.replace("ws", "http", 1) + path
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(address, body.encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()
