"""Finding agents, how they are, and the sessions they share."""
import asyncio
import json
from contextlib import asynccontextmanager, suppress

from client import Agent, refusal


async def finds(url):
    async with Agent(url, "asker") as asker, Agent(url, "duo", "sing", "dance") as duo, \
            Agent(url, "solo", "sing"), Agent(url, "dancer", "dance"):
        assert sorted(await asker.find("sing")) == ["duo", "solo"]
        assert await asker.find("sing", "dance") == ["duo"], "all that are required"
        assert await asker.find("sing", preferred=["dance"]) == ["duo", "solo"], "the preferred first"
        assert await asker.find("sing", preferred=["cook"]) in (["duo", "solo"], ["solo", "duo"])
        assert await asker.find("cook") == []
        [found] = await asker.router("findAgents", requiredCapabilities=["sing", "dance"])
        assert found["id"] == "duo" and found["name"] == "duo" and found["status"] == "ready", found
        assert sorted(found["capabilities"]) == ["dance", "sing"], found
        assert found["metadata"]["version"] == "1.0" and found["metadata"]["startedAt"], found
        assert "authToken" not in found and duo.token not in str(found), found
        for wrong in [{"requiredCapabilities": "sing"}, {"requiredCapabilities": [7]}]:
            await asker.refused("findAgents", **wrong)


async def statuses(url):
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        for status in ["starting", "busy", "stopping", "ready"]:
            await singer.router("setStatus", status=status)
            found = await asker.router("findAgents", requiredCapabilities=["sing"])
            assert [it["status"] for it in found] in ([], [status]), f"{status}: {found}"
        assert await asker.find("sing") == ["singer"]
        for wrong in [{"status": "dancing"}, {"status": 7}, {}]:
            await singer.refused("setStatus", **wrong)


async def busy_queues(url):
    """A request to who is busy waits until it is ready."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing") as singer:
        await singer.router("setStatus", status="busy")
        asked = [await asker.ask("singer", "sing", {"n": n}) for n in range(3)]
        await asker.router("heartbeat")
        await singer.hears_nothing()
        await singer.router("setStatus", status="ready")
        for n, request_id in enumerate(asked):
            request = await singer.hear("request")
            assert request["payload"]["parameters"] == {"n": n}, request
            await singer.respond(request, n)
            assert await asker.result(request_id) == n


async def busy_redirects(url):
    """Another that is ready and declares the action is asked in its place."""
    async with Agent(url, "asker") as asker, Agent(url, "singer", "sing", "hum") as singer, \
            Agent(url, "cook", "cook"), Agent(url, "stand-in", "sing") as stand_in:
        await singer.router("setStatus", status="busy")
        request_id = await asker.ask("singer", "sing", {"n": 1})
        request = await stand_in.hear("request")
        assert request["id"] == request_id and request["payload"]["parameters"] == {"n": 1}, request
        await stand_in.respond(request, "instead")
        assert await asker.result(request_id) == "instead"
        # Nobody else hums: that waits.
        request_id = await asker.ask("singer", "hum", {})
        await asker.router("heartbeat")
        await stand_in.hears_nothing()
        await singer.hears_nothing()
        await singer.router("setStatus", status="ready")
        await singer.respond(await singer.hear("request"), "hm")
        assert await asker.result(request_id) == "hm"
        await stand_in.router("setStatus", status="busy")
        request_id = await asker.ask("singer", "sing", {})
        await singer.respond(await singer.hear("request"), "myself")
        assert await asker.result(request_id) == "myself", "who is ready is asked itself"


@asynccontextmanager
async def beating(agent):
    async def beat():
        while True:
            await agent.router("heartbeat")
            await asyncio.sleep(0.03)
    task = asyncio.create_task(beat())
    try:
        yield
        assert not task.done(), task.exception()
    finally:
        task.cancel()


async def until(wanted, look):
    """Polls; only a failure waits long."""
    for _ in range(500):
        if (seen := await look()) == wanted:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"wanted {wanted}, and it stays at {seen}")


async def heartbeats(url):
    """Three misses and an agent is hidden; any word of it brings it back. The broker must be quick."""
    async with Agent(url, "asker") as asker, Agent(url, "mute", "sing") as mute, \
            Agent(url, "never", "hum"), Agent(url, "steady", "dance") as steady, \
            beating(asker), beating(steady):
        await mute.router("heartbeat")
        await until([], lambda: asker.find("sing"))
        await until([], lambda: asker.find("hum"))
        for word in [mute.router("heartbeat"), mute.tell("event", "news", 1), mute.find("dance"),
                     mute.router("setStatus", status="ready")]:
            await word
            await until(["mute"], lambda: asker.find("sing"))
            await until([], lambda: asker.find("sing"))
        assert await asker.find("dance") == ["steady"], "who keeps its heartbeats is there"
        # Hidden is not gone: it is asked all the same, and has its token and its name.
        request_id = await asker.ask("mute", "sing", {})
        await mute.respond(await mute.hear("request"), "la")
        assert await asker.result(request_id) == "la"
        async with Agent(url, "mute", register=False) as thief:
            await refusal(thief.register())


async def opened(agent, *participants, **state):
    context = {"topic": "a duet", "sharedState": state}
    return await agent.router("openSession", participants=list(participants), context=context)


async def sessions(url):
    async with Agent(url, "anna") as anna, Agent(url, "bert") as bert, Agent(url, "eve") as eve:
        session = await opened(anna, "anna", "bert", key="A", n=2**60 + 1)
        name = session["id"]
        assert sorted(session["participants"]) == ["anna", "bert"], session
        assert session["status"] == "active" and session["startedAt"], session
        context = session["context"]
        assert context["topic"] == "a duet" and context["messageHistory"] == [], session
        assert context["sharedState"] == {"key": "A", "n": 2**60 + 1}, session
        assert await bert.router("updateSession", sessionId=name) == session, "an empty update reads"

        # Key by key, not deeper.
        await bert.router("updateSession", sessionId=name, sharedState={"key": {"major": 1}, "tempo": 90})
        read = await anna.router("updateSession", sessionId=name, sharedState={"key": {"minor": 2}})
        assert read["context"]["sharedState"] == {"key": {"minor": 2}, "tempo": 90, "n": 2**60 + 1}, read

        for action, more in [("updateSession", {}), ("updateSession", {"sharedState": {"key": 0}}),
                             ("updateSession", {"status": "completed"}), ("closeSession", {})]:
            await eve.refused(action, sessionId=name, **more)
        read = await anna.router("updateSession", sessionId=name, status="paused")
        assert read["status"] == "paused" and read["context"]["sharedState"]["key"] == {"minor": 2}, read
        assert (await bert.router("updateSession", sessionId=name, status="active"))["status"] == "active"
        for wrong in [{"sessionId": "nothing"}, {}, {"sessionId": name, "status": "over"},
                      {"sessionId": name, "sharedState": []}]:
            await anna.refused("updateSession", **wrong)
        for wrong in ["anna", [7], ["anna", "a b"], None]:
            await anna.refused("openSession", context={"topic": "t", "sharedState": {}}, participants=wrong)


async def closed_sessions(url):
    async with Agent(url, "anna") as anna, Agent(url, "bert") as bert:
        for close in [("closeSession", {}), ("updateSession", {"status": "completed"})]:
            session = await opened(anna, "anna", "bert", key="A")
            action, more = close
            assert (await bert.router(action, sessionId=session["id"], **more))["status"] == "completed"
            for change in [{"sharedState": {"key": "B"}}, {"status": "active"}, {"status": "paused"}]:
                await anna.refused("updateSession", sessionId=session["id"], **change)
            read = await anna.router("updateSession", sessionId=session["id"])
            assert read["status"] == "completed", "it can still be read"
            assert read["context"]["sharedState"] == {"key": "A"}, read


async def session_versions(url):
    """Who names the version it has read does not overwrite a newer one."""
    async with Agent(url, "anna") as anna, Agent(url, "bert") as bert:
        session = await opened(anna, "anna", "bert", n=0)
        version = session["version"]
        read = {"sessionId": session["id"], "version": version}
        newer = await anna.router("updateSession", **read, sharedState={"n": 1})
        assert newer["version"] > version, newer
        await bert.refused("updateSession", "CONFLICT", **read, sharedState={"n": 2})
        read = await bert.router("updateSession", sessionId=session["id"])
        assert read["context"]["sharedState"] == {"n": 1} and read["version"] == newer["version"], read


async def session_history(url):
    """What is said with a session's id is remembered there, if a participant said it."""
    async with Agent(url, "anna") as anna, Agent(url, "bert", "sing") as bert, Agent(url, "eve") as eve:
        session = await opened(anna, "anna", "bert")
        about = {"metadata": {"sessionId": session["id"], "conversationDepth": 0}}
        request_id = await anna.ask("bert", "sing", {}, **about)
        request = await bert.hear("request")
        assert request["metadata"]["sessionId"] == session["id"], request
        await bert.respond(request, "la", **about)
        await anna.result(request_id)
        await anna.ask("bert", "sing", {"apart": True})
        await bert.respond(await bert.hear("request"))
        unheard = await eve.ask("bert", "sing", {}, **about)
        if eve.answers[unheard].empty():
            await eve.router("heartbeat")
        read = await anna.router("updateSession", sessionId=session["id"])
        history = read["context"]["messageHistory"]
        assert [it["from"] for it in history] == ["anna", "bert"], history
        assert [it["type"] for it in history] == ["request", "response"], history


async def hostile(url):
    """Content that is too deep to look into: refused or kept, but the broker stands."""
    deep = "[" * 100_000 + "]" * 100_000
    async with Agent(url, "reader") as reader, Agent(url, "witness") as witness:
        await reader.subscribe("t", contentMatch="x")
        with suppress(RecursionError):  # Python cannot read what it is told back
            async with Agent(url, "anna") as anna:
                session = await opened(anna, "anna")
                change = {"sessionId": session["id"], "sharedState": {"k": "@"}}
                event = anna.message("event", "*", {"topic": "t", "content": "@"})
                change = {"action": "updateSession", "parameters": change}
                for said in (event, anna.message("request", "router", change)):
                    await anna.write(json.dumps(said).replace('"@"', deep))
        await witness.router("heartbeat")
        await reader.hears_nothing()
