"""Who is who, requests and their answers."""
import asyncio
import time
import urllib.request

from client import HIGH, LOW, NORMAL, ROUTER, URGENT, Agent, refusal


async def registers(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        assert len(singer.token) >= 32, "too short for a secret"
        assert isinstance(await singer.router("heartbeat"), (dict, type(None)))
        for token in [None, "wrong"]:
            async with Agent(url, "singer", "steal", token=token, register=False) as thief:
                refused = await refusal(thief.register())
                assert singer.token not in refused.message, refused
                await thief.refused("findAgents", requiredCapabilities=["sing"])
        assert await asker.find("steal") == [] and await asker.find("sing") == ["singer"]
        async with Agent(url, "singer", "hum", token=singer.token, register=False) as again:
            await again.register()
            assert await asker.find("hum") == ["singer"] and await asker.find("sing") == []
    for name in ["router", "global_lobby", "switchboard", "", "a b", "x" * 129, 7]:
        async with Agent(url, name, register=False) as agent:
            await refusal(agent.register())


async def requests(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        data = {"text": "héllo ☃ 😀", "n": 2**53 + 1, "big": -(10**30), "f": 0.1,
                "deep": {"a": [{}, [], None, True, {"b": {"": 0}}]}}
        more = {"metadata": {"conversationDepth": 2, "contextSnapshot": {"why": "because"}}}
        request_id = await asker.ask("singer", "sing", data, HIGH, **more)
        request = await singer.hear("request")
        assert request["id"] == request_id and request["from"] == "asker", request
        assert request["to"] == "singer" and request["priority"] == HIGH, request
        assert request["payload"]["action"] == "sing" and request["payload"]["parameters"] == data, request
        assert request["metadata"]["contextSnapshot"] == {"why": "because"}, request
        assert request["metadata"]["conversationDepth"] >= 2, request
        assert "sessionId" not in request["metadata"], f"a session that nobody opened: {request}"
        await singer.respond(request, data)
        response = await asker.answer(request_id)
        assert response["from"] == "singer" and response["correlationId"] == request_id, response
        assert response["payload"]["status"] == "success" and response["payload"]["result"] == data, response
        for result in [None, 7, "text", [1, {}], {}, False]:
            request_id = await asker.ask("singer", "sing", {})
            await singer.respond(await singer.hear("request"), result)
            assert await asker.result(request_id) == result, result


async def failures(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        request_id = await asker.ask("singer", "sing", {})
        error = {"code": "HOARSE", "message": "no voice today", "details": {"since": 3}}
        await singer.respond(await singer.hear("request"), status="error", error=error)
        heard = await asker.answer(request_id)
        assert heard["payload"]["status"] == "error" and heard["from"] == "singer", heard
        assert heard["payload"]["error"] == error, f"as the singer wrote it: {heard}"
        await refusal(asker.call("nobody", "sing", {}))
        await refusal(asker.call(ROUTER, "dance", {}))
        await refusal(asker.call(ROUTER, "subscribe", {"topics": "not a list"}))
        # Part of an answer, then all of it.
        request_id = await asker.ask("singer", "sing", {})
        request = await singer.hear("request")
        await singer.respond(request, ["la"], "partial")
        heard = await asker.answer(request_id)
        assert heard["payload"] == {"status": "partial", "result": ["la"]}, heard
        await singer.respond(request, ["la", "la"])
        assert await asker.result(request_id) == ["la", "la"]


async def same_ids(url):
    """Ids are their senders' own: two may choose the same, and none needs to be a UUID."""
    async with Agent(url, "asker") as asker, Agent(url, "other") as other, \
            Agent(url, "singer", "sing") as singer:
        for agent in (asker, other):
            await agent.ask("singer", "sing", {"by": agent.id}, id="1")
        heard = [await singer.hear("request") for _ in range(2)]
        for request in reversed(heard):
            assert request["payload"]["parameters"]["by"] == request["from"], request
            await singer.respond(request, request["from"])
        for agent in (asker, other):
            assert await agent.result("1") == agent.id, agent.id


async def comes_back(url):
    """A request waits for who is away, and so does an answer."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        await singer.socket.close()
        request_id = await asker.ask("singer", "sing", {})
        async with Agent(url, "singer", "sing", token=singer.token) as back:
            request = await back.hear("request")
            assert request["id"] == request_id, request
            await asker.socket.close()
            await back.respond(request, "la")
            await back.hears_nothing()
            async with Agent(url, "asker", token=asker.token, register=False) as again:
                await again.register()
                heard = await again.hear("response")
                assert heard["correlationId"] == request_id and heard["payload"]["result"] == "la", heard


async def forged(url):
    """Only who was asked may answer, and only once."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer, \
            Agent(url, "forger") as forger:
        request_id = await asker.ask("singer", "sing", {})
        request = await singer.hear("request")
        await forger.respond(request, "forged")
        await forger.respond(request | {"id": "never asked"}, "forged")
        await forger.router("heartbeat")
        await singer.respond(request, "true")
        heard = await asker.answer(request_id)
        assert heard["payload"]["result"] == "true", f"the forger was believed: {heard}"
        await singer.respond(request, "once more")
        await singer.router("heartbeat")
        await asker.hears_nothing()
        assert asker.answers[request_id].empty(), f"another answer: {asker.answers[request_id]}"


async def timeouts(url):
    """Nobody answers: TIMEOUT, after five seconds at the least; who was silent is marked."""
    async with Agent(url, "asker") as asker, Agent(url, "mute", "sing") as mute:
        begin = time.monotonic()
        asked = [await asker.ask("mute", "sing", {}, timeout=timeout) for timeout in (5000, 10)]
        requests = [await mute.hear("request") for _ in asked]
        for request_id in asked:
            heard = await asker.answer(request_id)
            assert heard["payload"]["status"] == "error", heard
            assert heard["payload"]["error"]["code"] == "TIMEOUT", heard
            took = time.monotonic() - begin
            assert 4.9 <= took < 9, f"after {took} s: {heard}"
        assert await asker.find("sing") == [], "not responding: marked unavailable"
        await mute.respond(requests[0], "too late")
        await mute.router("heartbeat")
        await asker.hears_nothing()
        assert asker.answers[asked[0]].empty(), "an answer after the end"
        assert await asker.find("sing") == ["mute"], "restored by any message"


async def wrong_timeouts(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        for timeout in ["soon", -1, None]:
            request_id = await asker.ask("singer", "sing", {}, timeout=timeout)
            with_answer = asyncio.create_task(asker.answer(request_id))
            while not with_answer.done():
                if not singer.inbox.empty():  # it may also count as none
                    await singer.respond(await singer.hear("request"))
                await asyncio.sleep(0.01)
            with_answer.result()


async def several(url):
    """A request to several recipients has an answer from each."""
    async with Agent(url, "asker") as asker, Agent(url, "one", "sing") as one, Agent(url, "two", "sing") as two:
        request_id = await asker.ask(["one", "two"], "sing", {"n": 1})
        for agent in (one, two):
            request = await agent.hear("request")
            assert request["id"] == request_id and request["payload"]["parameters"] == {"n": 1}, request
            await agent.respond(request, agent.id)
        heard = [await asker.answer(request_id) for _ in range(2)]
        assert {it["from"]: it["payload"]["result"] for it in heard} == {"one": "one", "two": "two"}, heard


async def priorities(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        for priority in (LOW, NORMAL, HIGH, URGENT):
            request_id = await asker.ask("singer", "sing", {}, priority)
            request = await singer.hear("request")
            assert request["priority"] == priority, request
            await singer.respond(request)
            await asker.result(request_id)
        for priority in (4, -1, "SOON", 1.5):
            await refusal(asker.call("singer", "sing", {}, priority=priority))
        await singer.hears_nothing()


async def traces(url):
    """A trace is filled in where there is none, and leads from request to response."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        own = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331"}
        for given in [None, own, own | {"parentSpanId": "00f067aa0ba902b7"}]:
            metadata = {"conversationDepth": 0} | ({"trace": given} if given else {})
            request_id = await asker.ask("singer", "sing", {}, metadata=metadata)
            request = await singer.hear("request")
            asked = request["metadata"]["trace"]
            assert asked["traceId"] and asked["spanId"], request
            assert given is None or asked == given, f"{given} became {asked}"
            await singer.respond(request)
            answered = (await asker.answer(request_id))["metadata"]["trace"]
            assert answered["traceId"] == asked["traceId"], (asked, answered)
            assert answered["spanId"] != asked["spanId"], (asked, answered)
            assert answered["parentSpanId"] == asked["spanId"], (asked, answered)
        await asker.tell("broadcast", "news", 1)
        first = (await singer.hear("broadcast"))["metadata"]["trace"]
        await asker.tell("broadcast", "news", 2)
        second = (await singer.hear("broadcast"))["metadata"]["trace"]
        assert first["traceId"] != second["traceId"] and first["spanId"] != second["spanId"]


async def brief(url):
    """What the broker knows itself may be left out: time, priority, metadata."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        asker.answers["k"] = asyncio.Queue()
        payload = {"action": "sing", "parameters": {}}
        await asker.write({"id": "k", "type": "request", "from": "asker", "to": "singer", "payload": payload})
        request = await singer.hear("request")
        assert request["priority"] == NORMAL, request
        await singer.respond(request, 1)
        assert await asker.result("k") == 1


async def metrics(url):
    """The four of the specification, as Prometheus text."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        request_id = await asker.ask("singer", "sing", {}, HIGH)
        await singer.respond(await singer.hear("request"))
        await asker.result(request_id)
        address = url.replace("ws", "http", 1) + "/metrics"
        with await asyncio.to_thread(urllib.request.urlopen, address) as answer:
            lines = answer.read().decode().splitlines()
    for metric, labels in [("messages_sent_total", ["type=", "priority="]), ("message_latency_ms", []),
                           ("agent_availability", ["agent="]), ("queue_depth", [])]:
        found = [line for line in lines if metric in line and not line.startswith("#")]
        assert found, f"{metric} is missing: {lines}"
        assert all(label in line for line in found for label in labels), found
    sent = [line for line in lines if "messages_sent_total" in line and 'type="request"' in line]
    assert any(line.endswith((" 1", " 1.0")) and "high" in line.lower() for line in sent), sent
