"""The same agent behind every door: it calls, is called, answers and fails, in that door's words.

Each of the four has the same methods. A caller gets the output, or `Failure` with what its door
said. A provider gets `Call`s, and answers with an output or says that it failed.
"""
import asyncio
import dataclasses
import uuid
from contextlib import suppress

import aacp.client
import collab.client
import gen3.client
import lobby.client
from by_mail import Mailbox

PATIENCE = 20


class Failure(Exception):
    """What the caller heard in place of an answer; `kind` as its door names it, if it does."""

    def __init__(self, kind, text, raw):
        super().__init__(f"{kind} {text}: {raw}")
        self.kind, self.text, self.raw = kind, text, raw


def words(error):
    """What went wrong, which some doors say with a code beside it."""
    return error["message"] if isinstance(error, dict) else error


@dataclasses.dataclass
class Call:
    capability: str
    data: dict
    key: str
    caller: str
    raw: dict
    priority: object = None


class Bus(gen3.client.Agent):
    """Payload `{type, capability, …input}` on `agent:ID`; the output is the ack's payload."""

    dialect, denied = "bus", -32011

    def __init__(self, url, agent_id, *names, token=None):
        more = {"authToken": token} if token else {}
        super().__init__(url, agent_id, f"agent:{agent_id}", capabilities=list(names), **more)
        self.late, self.listening = {}, asyncio.Lock()

    async def invoke(self, provider, name, data):
        payload = {"type": name, "capability": name, **data}
        try:
            reply = await self.call("sendMessage", topic=f"agent:{provider}", payload=payload)
        except gen3.client.Error as error:
            raise Failure(error.code, str(error), error) from None
        if reply["success"] and not reply["acks"]:  # it lies in a mailbox
            return await self.later(reply["messageId"])
        if not reply["success"] or not reply["acks"][0]["processed"]:
            text = reply["acks"][0]["message"] if reply["acks"] else None
            raise Failure("processed: false", text, reply)
        return reply["acks"][0]["payload"]

    async def later(self, key):
        """The answer that comes after the first attempt, as a message of its own."""
        async with self.listening:  # one at a time listens, for all
            while key not in self.late:
                request_id, params = await self.message()
                await self.answer(request_id, True)
                self.late[params["correlation_id"]] = params
        params = self.late.pop(key)
        payload = {name: it for name, it in params["payload"].items() if name not in ("type", "correlation_id")}
        if params["payload"]["type"] == "error":
            raise Failure("error", words(payload["error"]), params)
        return payload

    async def called(self):
        request_id, params = await self.message()
        payload = dict(params["payload"])
        name = payload.pop("capability", payload.get("type"))
        if payload.get("type") == name:
            del payload["type"]
        assert params["to"] in (self.id, f"agent:{self.id}"), params
        assert params["correlation_id"], f"nothing to answer to: {params}"
        call = Call(name, payload, params["correlation_id"], params["from"], params)
        call.request_id = request_id
        return call

    async def give(self, call, output):
        await self.answer(call.request_id, True, payload=output)

    async def fail(self, call, text):
        await self.answer(call.request_id, False, text)


class Lobby(lobby.client.Agent):
    """REQUEST and RESPONSE, input and output beside the door's own words."""

    dialect, denied = "lobby", "error"

    def __init__(self, url, agent_id, *names, token=None):
        super().__init__(url, agent_id, [lobby.client.capability(name) for name in names])
        self.given = token

    async def __aenter__(self):
        if self.given:
            self.token = self.given
        await super().__aenter__()
        if self.given:
            ack = await self.register(self.given)
            assert ack["message_type"] == "REGISTER_ACK", ack
        return self

    async def invoke(self, provider, name, data):
        key = await self.request(provider, name, **data)
        heard = await self.hear("RESPONSE")
        assert heard["conversation_id"] == key, f"another conversation: {heard}"
        payload = dict(heard["payload"])
        status = payload.pop("status")
        if status != "success":
            raise Failure(status, payload.get("error"), heard)
        return payload

    async def called(self):
        heard = await self.hear("REQUEST")
        data = dict(heard["payload"])
        name = data.pop("capability_name")
        return Call(name, data, heard["conversation_id"], heard["sender_id"], heard, heard.get("priority"))

    async def give(self, call, output):
        await self.respond(call.raw, **output)

    async def fail(self, call, text):
        await self.respond(call.raw, "error", error=text)


class Collab(collab.client.Agent):
    """Requests with an action and its parameters, responses with a result."""

    dialect, denied = "collaboration", "FORBIDDEN"

    def __init__(self, url, agent_id, *names, token=None):
        super().__init__(url, agent_id, *names, token=token)

    async def invoke(self, provider, name, data):
        request_id = await self.ask(provider, name, data)
        heard = await self.answer(request_id)
        if heard["payload"]["status"] == "partial":
            raise Failure("partial", None, heard)
        if heard["payload"]["status"] == "error":
            error = heard["payload"]["error"]
            raise Failure(error["code"], error["message"], heard)
        return heard["payload"]["result"]

    async def called(self):
        heard = await self.hear("request")
        payload = heard["payload"]
        call = Call(payload["action"], payload["parameters"], heard["id"], heard["from"], heard)
        call.priority = heard["priority"]
        return call

    async def give(self, call, output):
        await self.respond(call.raw, output)

    async def fail(self, call, text):
        await self.respond(call.raw, status="error", error={"code": "BROKEN", "message": text})


class Aacp(Mailbox):
    """Requests with an action and its input, responses with an output; declared by `POST /api/register`."""

    dialect, denied = "aacp", 403

    def __init__(self, url, agent_id, *names, token=None):
        super().__init__(url, agent_id, token)
        self.capabilities = [lobby.client.capability(name) for name in names]

    async def __aenter__(self):
        payload = {"capabilities": self.capabilities}
        said = lobby.client.message(self.id, lobby.client.LOBBY, "REGISTER", payload, None, self.token)
        answer = await self.ask("POST", "/api/register", said)
        assert answer.status in (200, 201), answer
        self.token = answer.body["payload"]["auth_token"]
        self.reader = asyncio.create_task(self.read())
        return self

    async def __aexit__(self, *_):
        self.reader.cancel()
        with suppress(asyncio.CancelledError):
            await self.reader

    async def invoke(self, provider, name, data):
        key = str(uuid.uuid4())
        waiting = self.answers[key] = asyncio.get_running_loop().create_future()
        answer = await self.send(provider, {"action": name, "input": data}, "request", key)
        if answer.status != 201:
            raise Failure(answer.status, answer.body["detail"], answer)
        heard = await asyncio.wait_for(waiting, PATIENCE)
        assert heard["content"]["action"] == name, heard
        output = heard["content"]["output"]
        if isinstance(output, dict) and "error" in output:
            raise Failure("error", words(output["error"]), heard)
        return output

    async def called(self):
        heard = await asyncio.wait_for(self.inbox.get(), PATIENCE)
        assert heard["message_type"] == "request" and heard["status"] == "delivered", heard
        assert heard["content"].keys() == {"action", "input"}, heard
        content = heard["content"]
        return Call(content["action"], content["input"], heard["correlation_id"], heard["sender_agent_id"], heard)

    async def give(self, call, output):
        content = {"action": call.capability, "output": output}
        answer = await self.send(call.caller, content, "response", call.key)
        if answer.status != 201:
            raise Failure(answer.status, answer.body["detail"], answer)

    async def fail(self, call, text):
        await self.give(call, {"error": text})

    async def hears_nothing(self):
        await self.page(limit=1)
        assert self.inbox.empty(), self.inbox


DOORS = {"bus": Bus, "lobby": Lobby, "collab": Collab, "aacp": Aacp}


def shown(agent_id, door):
    """An agent's name as this door shows it: AACP knows only UUIDs."""
    return aacp.client.alias(agent_id) if door.dialect == "aacp" else agent_id


async def failure(invocation):
    """What the caller hears; it must be a failure."""
    try:
        raise AssertionError(f"this did not fail: {await asyncio.wait_for(invocation, PATIENCE)}")
    except Failure as heard:
        return heard
