"""Finding a service, calling it, and every way in which that goes wrong."""
import asyncio
import json

from client import LOBBY, PATIENCE, Agent, capability, message

NUMBERS = {
    "type": "object", "required": ["n"], "additionalProperties": False,
    "properties": {"n": {"type": "integer"}, "in": {"type": "object", "properties": {"m": {"type": "string"}}}},
}


async def discovers(url):
    offers = [capability("sing", keywords=["music", "voice"]), capability("hum", keywords=["music"]),
              capability("cook", keywords=["kitchen"])]
    async with Agent(url, "singer", offers) as singer, Agent(url, "other", [capability("sing")]), \
            Agent(url, "closed", [capability("sing", ["somebody_else"], keywords=["music"])]), \
            Agent(url, "asker", [capability("sing", keywords=["music"])]) as asker:
        await asker.say("DISCOVER_SERVICES", LOBBY, {"capability_name": "sing"}, "k")
        heard = await asker.hear("SERVICES_AVAILABLE")
        assert heard["sender_id"] == LOBBY and heard["conversation_id"] == "k", heard
        payload = heard["payload"]
        assert payload.keys() == {"services_found", "discovered_for_capability"}, payload
        assert payload["discovered_for_capability"] == "sing", payload
        found = {it.pop("agent_id"): it for it in payload["services_found"]}
        assert found.keys() == {"singer", "other"}, "not the asker, nor what it may not call"
        assert found["singer"].keys() == {"relevant_capabilities"}, found
        [can] = found["singer"]["relevant_capabilities"]
        for key, value in offers[0].items():
            assert can.get(key) == value, f"{key} of {can}"

        assert await asker.discover(query_keywords=["voice"]) == {"singer": ["sing"]}
        [names] = (await asker.discover(query_keywords=["music"])).values()
        assert sorted(names) == ["hum", "sing"], names
        assert await asker.discover(query_keywords=["nothing"]) == {}
        assert await asker.discover(capability_name="nothing") == {}
        assert await singer.discover(capability_name="sing") == {"other": ["sing"], "asker": ["sing"]}


async def calls(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", [capability("sing")]) as singer:
        data = {"text": "héllo ☃ 😀 \"quoted\" \\ \n", "n": 2**53 + 1, "big": -(10**30), "f": 0.1,
                "deep": {"a": [{}, [], None, True, {"b": {"c": ""}}]}, "": "no name"}
        conversation = await asker.request("singer", "sing", **data)
        request = await singer.hear("REQUEST")
        assert request["sender_id"] == "asker" and request["conversation_id"] == conversation, request
        assert request["payload"] == {"capability_name": "sing", **data}, request
        await singer.respond(request, **data)
        response = await asker.hear("RESPONSE")
        assert response["sender_id"] == "singer" and response["conversation_id"] == conversation, response
        assert response["payload"] == {"status": "success", **data}, response
        # A conversation may go on, and its id is whatever the agent made it.
        for n in range(2):
            await asker.request("singer", "sing", "not a uuid", n=n)
            await singer.respond(await singer.hear("REQUEST"), n=n)
            assert (await asker.response("not a uuid"))["n"] == n
        await asker.say("REQUEST", "singer", {"capability_name": "sing"}, None)
        await singer.respond(await singer.hear("REQUEST"), song="la")
        assert (await asker.hear("RESPONSE"))["payload"] == {"status": "success", "song": "la"}


async def calls_at_once(url):
    """Many requests in flight, answered in another order, some of them in one conversation."""
    singers = [Agent(url, f"singer-{n}", [capability("sing")]) for n in range(3)]
    async with Agent(url, "asker") as asker, singers[0], singers[1], singers[2]:
        for singer in singers:
            await asker.request(singer.id, "sing", "shared")
        for singer in reversed(singers):
            await singer.respond(await singer.hear("REQUEST"), by=singer.id)
        heard = [await asker.response("shared") for _ in singers]
        assert sorted(payload["by"] for payload in heard) == [singer.id for singer in singers], heard
        sent = [await asker.request("singer-0", "sing", n=n) for n in range(20)]
        requests = [await singers[0].hear("REQUEST") for _ in sent]
        assert [it["payload"]["n"] for it in requests] == list(range(20)), "in order"
        for request in reversed(requests):
            await singers[0].respond(request, n=request["payload"]["n"])
        for n in reversed(range(20)):
            assert (await asker.response(sent[n]))["n"] == n


async def denied(url):
    offers = [capability("open"), capability("empty", []), capability("friends", ["friend"])]
    async with Agent(url, "asker") as asker, Agent(url, "friend") as friend, \
            Agent(url, "host", offers) as host:
        await asker.request("host", "friends", "k")
        response = await asker.hear("RESPONSE")
        assert response["conversation_id"] == "k", response
        assert response["sender_id"] in (LOBBY, "host"), response
        assert response["payload"]["status"] == "error" and response["payload"]["error"] == (
            "Unauthorized: Agent 'asker' is not authorized to call capability 'friends' on agent 'host'."
        ), response
        await host.hears_nothing()
        for agent, name in [(asker, "open"), (asker, "empty"), (friend, "friends")]:
            conversation = await agent.request("host", name)
            await host.respond(await host.hear("REQUEST"))
            await agent.response(conversation)


async def unknown(url):
    async with Agent(url, "asker") as asker, Agent(url, "host", [capability("open")]) as host:
        assert "sing" in await asker.fails("host", "sing")
        assert "nobody" in await asker.fails("nobody", "sing")
        await asker.say("REQUEST", "host", {"n": 1}, "k")
        await asker.response("k", "error")
        await host.hears_nothing()


async def schema_of_input(url):
    async with Agent(url, "asker") as asker, \
            Agent(url, "host", [capability("count", input_schema=NUMBERS)]) as host:
        for data, words in [({"n": "seven"}, ["n", "integer"]), ({}, ["n", "required"]),
                            ({"n": 1, "x": 2}, ["x"]), ({"n": 1, "in": {"m": 5}}, ["in/m", "string"])]:
            error = await asker.fails("host", "count", **data)
            assert all(word in error for word in words), f"{data}: {error}"
        await host.hears_nothing()
        conversation = await asker.request("host", "count", n=2**70)
        await host.respond(await host.hear("REQUEST"), anything=["goes"])
        await asker.response(conversation)


async def schema_of_output(url):
    """What does not match reaches nobody: its sender hears ERROR, the requester why."""
    async with Agent(url, "asker") as asker, \
            Agent(url, "host", [capability("count", output_schema=NUMBERS)]) as host:
        conversation = await asker.request("host", "count")
        await host.respond(await host.hear("REQUEST"), n="seven")
        payload = await host.error("n", "integer")
        assert payload.get("original_message_type") in (None, "RESPONSE"), payload
        assert payload.get("original_conversation_id") in (None, conversation), payload
        response = await asker.response(conversation, "error")
        assert "n" not in response, f"it got through: {response}"
        # Nor does it get through at the second try.
        await host.say("RESPONSE", "asker", {"status": "success", "n": "eight"}, conversation)
        await host.error()
        await asker.hears_nothing()
        # Only success is measured: an error looks as it likes.
        conversation = await asker.request("host", "count")
        await host.respond(await host.hear("REQUEST"), "error", error="out of numbers", code=[7])
        assert (await asker.response(conversation, "error"))["code"] == [7]
        conversation = await asker.request("host", "count")
        await host.respond(await host.hear("REQUEST"), n=7)
        await asker.response(conversation)


async def failures(url):
    """What the provider says is forwarded as it is: failures, and that it is not done yet."""
    async with Agent(url, "asker") as asker, Agent(url, "host", [capability("work")]) as host:
        conversation = await asker.request("host", "work")
        await host.respond(await host.hear("REQUEST"), "error", error="no more coffee", detail={"cups": 0})
        payload = await asker.response(conversation, "error")
        assert payload == {"status": "error", "error": "no more coffee", "detail": {"cups": 0}}, payload
        conversation = await asker.request("host", "work")
        request = await host.hear("REQUEST")
        for done in [10, 60]:
            await host.respond(request, "in_progress", done=done)
            assert (await asker.response(conversation, "in_progress"))["done"] == done
        await host.respond(request, done=100)
        assert await asker.response(conversation) == {"status": "success", "done": 100}
        # The exchange is over.
        await host.respond(request, done=200)
        await host.error()
        await asker.hears_nothing()


async def forged(url):
    """Only who was asked may answer."""
    async with Agent(url, "asker") as asker, Agent(url, "host", [capability("work")]) as host, \
            Agent(url, "forger") as forger:
        conversation = await asker.request("host", "work")
        request = await host.hear("REQUEST")
        await forger.respond(request, evil=True)
        await forger.error()
        evil = {"status": "success", "evil": True}
        await forger.say("RESPONSE", "asker", evil, conversation, sender_id="host")
        await forger.error()
        await forger.say("RESPONSE", "asker", {"status": "success"}, "never asked")
        await forger.error()
        await host.respond(request, evil=False)
        assert await asker.response(conversation) == {"status": "success", "evil": False}


async def nobody_answers(url):
    """Silence ends in a RESPONSE, whether the provider is there or not. The broker must be hasty."""
    async with Agent(url, "asker") as asker:
        async with Agent(url, "mute", [capability("work")]) as mute:
            conversation = await asker.request("mute", "work")
            request = await mute.hear("REQUEST")
            assert (await asker.response(conversation, "error"))["error"]
        async with Agent(url, "fainting", [capability("work")]) as fainting:
            conversation = await asker.request("fainting", "work")
            await fainting.hear("REQUEST")
        assert (await asker.response(conversation, "error"))["error"]
        conversation = await asker.request("fainting", "work")
        assert (await asker.response(conversation, "error"))["error"], "it is away"
        await asker.hears_nothing()


async def too_late(url):
    """An answer after the end is refused; nobody hears two endings."""
    async with Agent(url, "asker") as asker, Agent(url, "slow", [capability("work")]) as slow:
        conversation = await asker.request("slow", "work")
        request = await slow.hear("REQUEST")
        await asker.response(conversation, "error")
        await slow.respond(request)
        while (heard := await slow.hear())["message_type"] == "REQUEST":
            pass  # it was asked again before the end
        assert heard["message_type"] == "ERROR", heard
        await asker.hears_nothing()


async def waits(url):
    """A request to an agent that is away waits for it."""
    async with Agent(url, "host", [capability("work")]) as host:
        token = host.token
    async with Agent(url, "asker") as asker:
        conversation = await asker.request("host", "work", n=1)
        async with Agent(url, "host", [capability("work")], token) as host:
            ack = await host.register(token)
            assert ack["message_type"] == "REGISTER_ACK", ack
            host.token = ack["payload"].get("auth_token") or token
            request = await host.hear("REQUEST")
            assert request["payload"]["n"] == 1, request
            await host.respond(request)
            await asker.response(conversation)


async def answer_waits(url):
    """Who asks and goes away finds the answer when it comes back."""
    async with Agent(url, "host", [capability("work")]) as host:
        async with Agent(url, "asker") as asker:
            conversation = await asker.request("host", "work")
            request = await host.hear("REQUEST")
        await host.respond(request, n=1)
        await host.hears_nothing()
        async with Agent(url, "asker", token=asker.token) as back:
            assert (await back.register(asker.token))["message_type"] == "REGISTER_ACK"
            assert (await back.response(conversation))["n"] == 1


async def secrets(url):
    """A forwarded message never carries its sender's token, wherever the sender put it."""
    async with Agent(url, "asker") as asker, Agent(url, "host", [capability("work")]) as host:
        conversation = await asker.request("host", "work")
        raw = await asyncio.wait_for(host.socket.recv(), PATIENCE)
        assert asker.token not in raw, raw
        await host.respond(json.loads(raw))
        raw = await asyncio.wait_for(asker.socket.recv(), PATIENCE)
        assert host.token not in raw and json.loads(raw)["conversation_id"] == conversation, raw


async def errors_between_agents(url):
    """ERROR may also go from agent to agent."""
    async with Agent(url, "asker") as asker, Agent(url, "host", [capability("work")]) as host:
        conversation = await asker.request("host", "work")
        request = await host.hear("REQUEST")
        payload = {"error": "what is this?", "original_message_type": "REQUEST"}
        await host.write(message("host", "asker", "ERROR", payload, conversation, host.token))
        heard = await asker.hear()
        assert heard["message_type"] in ("ERROR", "RESPONSE"), heard
        assert "what is this?" in heard["payload"]["error"], heard
        assert heard["conversation_id"] == conversation == request["conversation_id"], heard


async def priorities(url):
    """0 critical, 1 high, 2 normal, 3 low, 4 bulk; low and bulk are one here."""
    async with Agent(url, "asker") as asker, Agent(url, "host", [capability("work")]) as host:
        for priority, arrives in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (None, 2)]:
            await asker.say("REQUEST", "host", {"capability_name": "work"}, "k", priority=priority)
            request = await host.hear("REQUEST")
            assert request.get("priority", 2) == arrives, f"{priority}: {request}"
            await host.respond(request)
            await asker.response("k")
        for priority in [5, -1, "high", 1.5]:
            await asker.say("REQUEST", "host", {"capability_name": "work"}, "k", priority=priority)
            heard = await asker.hear()
            assert heard["message_type"] == "ERROR" or heard["payload"]["status"] == "error", heard
        await host.hears_nothing()
