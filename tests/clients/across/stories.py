"""What differs from door to door: names that collide, late answers, identity, priorities, broadcasts."""
import asyncio
from contextlib import suppress

import collab.client
import gen3.client
import lobby.client
from doors import DOORS, PATIENCE, Aacp, Bus, Collab, Failure, Lobby, failure
from pairs import answered, pairs

OWN = {  # the keys that a door keeps for itself: of an input, of an output
    "bus": (["capability"], []),
    "lobby": (["capability_name"], ["status"]),
    "collaboration": ([], []),
    "aacp": ([], ["error"]),
}


def lies_in(data, name, value, under):
    """As itself, or where the envelope has that name, under `under`."""
    return data.get(name) == value or (data.get(under) or {}).get(name) == value


@pairs
async def collisions(caller, provider):
    """A key that collides with the envelope's own is not lost."""
    if caller.dialect in ("collaboration", "aacp"):  # those that can write such a key plainly
        data = {name: f"my {name}" for name in OWN[provider.dialect][0]} | {"plain": 1}
        call, _ = await answered(caller, provider, data, {})
        assert call.capability == "sing" and call.data["plain"] == 1, call
        for name in OWN[provider.dialect][0]:
            assert call.data["input"][name] == f"my {name}", f"{name} under input: {call.data}"
    if provider.dialect not in ("lobby", "aacp"):
        output = {name: f"my {name}" for name in OWN[caller.dialect][1]} | {"plain": 1}
        _, heard = await answered(caller, provider, {}, output)
        assert heard["plain"] == 1, heard
        for name in OWN[caller.dialect][1]:
            assert heard["output"][name] == f"my {name}", f"{name} under output: {heard}"
    # Words of other doors are no words of this one.
    words = {"type": "my type", "action": "a", "parameters": {"p": 1}, "result": [1], "error": "e",
             "input": {"i": 1}, "output": {"o": 1}, "auth_token": "t", "correlation_id": "c",
             "conversation_id": "k", "priority": "p"}
    unsaid = ["type", "error"] if provider.dialect == "aacp" else ["type"]  # there such an output is a failure
    output = {name: value for name, value in words.items() if name not in unsaid}
    call, heard = await answered(caller, provider, words, output)
    for name, value in words.items():
        assert lies_in(call.data, name, value, "input"), f"{name} of the input: {call.data}"
        assert name in unsaid or lies_in(heard, name, value, "output"), f"{name} of the output: {heard}"


@pairs
async def no_objects(caller, provider):
    """What is no object travels as `{"result": …}` where a door wants an object."""
    if provider.dialect in ("lobby", "aacp"):
        return
    for output in [42, 2**70, "text", [1, {}], True]:
        _, heard = await answered(caller, provider, {}, output)
        wanted = [{"result": output}] if caller.dialect == "lobby" else [output, {"result": output}]
        assert heard in wanted, f"{output} became {heard}"


async def answers_later(url, folder):
    """A bus peer may process first and answer later; whoever asked hears it as an answer."""
    for door in ("lobby", "collab", "aacp"):
        async with DOORS[door](url, f"{door}-asks") as caller, Bus(url, f"slow-{door}", "sing") as slow:
            invocation = asyncio.create_task(caller.invoke(slow.id, "sing", {"n": 1}))
            call = await slow.called()
            await slow.answer(call.request_id, True)
            await slow.call("ping")
            assert not invocation.done(), f"{door}: processed is not answered yet: {invocation}"
            payload = {"type": "task_result", "correlation_id": call.key, "n": 2**60 + 1}
            about = {"topic": f"agent:{caller.id}", "correlation_id": call.key}
            sent = asyncio.create_task(slow.call("sendMessage", **about, payload=payload))
            output = await asyncio.wait_for(invocation, PATIENCE)
            assert output == {"n": 2**60 + 1}, f"{door}: {output}"
            reply = await sent
            assert reply["success"], reply


async def one_identity(url, folder):
    """A name is one over all doors: it needs its token at each, and is the same agent behind it."""
    for first in ("lobby", "collab", "aacp"):
        async with DOORS[first](url, f"by-{first}", "sing") as owner:
            for door in DOORS.values():
                await turned_away(door(url, owner.id, "steal"))
            # Two wrong guesses; a third would lock the name.
            await turned_away(Bus(url, owner.id, "steal", token="wrong"))
            await turned_away(Collab(url, owner.id, "steal", token="wrong"))
            async with Lobby(url, f"asker-{first}") as asker:
                assert await asker.discover(capability_name="steal") == {}
        for name, door in DOORS.items():
            async with door(url, owner.id, "sing", token=owner.token) as again, \
                    Lobby(url, f"asker-{first}-{name}") as asker:
                call, output = await answered(asker, again, {"n": 1}, {"n": 2})
                assert call.data == {"n": 1} and output == {"n": 2}, f"{first}, then {name}"


async def turned_away(agent):
    try:
        async with agent:
            raise RuntimeError(f"{agent.dialect} let somebody in as {agent.id}")
    except (AssertionError, gen3.client.Error, collab.client.Refused):
        pass


async def found(url, folder):
    """Who offers something is found from every door that can look."""
    async with Bus(url, "on-bus", "sing"), Lobby(url, "in-lobby", "sing"), Collab(url, "in-collab", "sing"), \
            Aacp(url, "by-mail", "sing"), Lobby(url, "lobby-looks") as looks, Collab(url, "collab-looks") as also:
        everyone = ["by-mail", "in-collab", "in-lobby", "on-bus"]
        seen = await looks.discover(capability_name="sing")
        assert sorted(seen) == everyone and list(seen.values()) == [["sing"]] * 4, seen
        assert sorted(await also.find("sing")) == everyone


async def priorities(url, folder):
    """An enum, mapped per door and never by number."""
    async with Lobby(url, "lobby-asks") as asks, Collab(url, "collab-asks") as also, \
            Bus(url, "bus-asks") as bus, Lobby(url, "in-lobby", "sing") as in_lobby, \
            Collab(url, "in-collab", "sing") as in_collab:
        for priority, arrives in [(0, 3), (1, 2), (2, 1), (3, 0), (4, 0), (None, 1)]:
            await asks.say("REQUEST", "in-collab", {"capability_name": "sing"}, "k", priority=priority)
            call = await in_collab.called()
            assert call.priority == arrives, f"lobby {priority} became {call.priority}"
            await in_collab.give(call, {})
            await asks.response("k")
        for priority, arrives in [(3, 0), (2, 1), (1, 2), (0, 3)]:
            request_id = await also.ask("in-lobby", "sing", {}, priority)
            call = await in_lobby.called()
            assert (2 if call.priority is None else call.priority) == arrives, f"collab {priority}: {call}"
            await in_lobby.give(call, {})
            await also.result(request_id)
        for priority, arrives in [("urgent", 3), ("high", 2), ("normal", 1), ("low", 0)]:
            sent = bus.call("sendMessage", topic="agent:in-collab", payload={"type": "sing"}, priority=priority)
            sent = asyncio.create_task(sent)
            call = await in_collab.called()
            assert call.priority == arrives, f"bus {priority} became {call.priority}"
            await in_collab.give(call, {})
            assert (await sent)["success"]


async def schemas(url, folder):
    """What a capability accepts and gives holds, whatever the doors."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    can = lobby.client.capability("count", input_schema=schema, output_schema=schema)
    on_bus, in_lobby, by_mail = Bus(url, "on-bus"), Lobby(url, "in-lobby"), Aacp(url, "by-mail")
    on_bus.more["capabilities"] = in_lobby.capabilities = by_mail.capabilities = [can]
    async with on_bus, in_lobby, by_mail:
        for name, door in DOORS.items():
            async with door(url, f"{name}-asks") as caller:
                for provider in (on_bus, in_lobby, by_mail):
                    for data in ({"n": "seven"}, {}):
                        heard = await failure(caller.invoke(provider.id, "count", data))
                        assert "n" in heard.text, heard
                    invocation = asyncio.create_task(failure(caller.invoke(provider.id, "count", {"n": 1})))
                    call = await provider.called()
                    with suppress(Failure):  # by mail it is refused at once
                        await provider.give(call, {"n": "eight"})
                    heard = await invocation
                    assert "eight" not in str(heard.kind), heard
                    if provider is in_lobby:
                        await in_lobby.error("n")
                    _, output = await answered(caller, provider, {"n": 1}, {"n": 2}, "count")
                    assert output == {"n": 2}, f"{name} to {provider.id}: {output}"


async def declared(url, folder):
    """Who may call is the provider's to say, and holds for callers of every door."""
    can = lobby.client.capability("sing", [f"{name}-friend" for name in DOORS])
    on_bus, in_lobby, by_mail = Bus(url, "on-bus"), Lobby(url, "in-lobby"), Aacp(url, "by-mail")
    on_bus.more["capabilities"] = in_lobby.capabilities = by_mail.capabilities = [can]
    async with on_bus, in_lobby, by_mail:
        for name, door in DOORS.items():
            async with door(url, f"{name}-friend") as friend, door(url, f"{name}-rogue") as rogue:
                for provider in (on_bus, in_lobby, by_mail):
                    heard = await failure(rogue.invoke(provider.id, "sing", {}))
                    assert heard.kind == rogue.denied, heard
                    _, output = await answered(friend, provider, {}, {"la": 1})
                    assert output == {"la": 1}, output


async def broadcasts(url, folder):
    """Heard by bus peers on `broadcast:TOPIC`, and not in the lobby."""
    async with Collab(url, "sender") as sender, Collab(url, "reader") as reader, \
            Lobby(url, "in-lobby") as quiet, Bus(url, "on-bus") as bus, Bus(url, "deaf") as deaf:
        await bus.subscribe("broadcast:news")
        await deaf.subscribe("broadcast:weather")
        content = {"text": "héllo", "n": 2**60 + 1}
        await sender.tell("broadcast", "news", content)
        assert (await reader.hear("broadcast"))["payload"] == {"topic": "news", "content": content}
        params = await bus.process()
        assert params["topic"] == "broadcast:news" and params["from"] == "sender", params
        assert content in (params["payload"], params["payload"].get("content")) \
            or content.items() <= params["payload"].items(), params
        await quiet.hears_nothing()
        await deaf.call("ping")
        assert deaf.asked.empty(), deaf.asked


async def kinds_of_call(url, folder):
    """On the bus the capability is `capability`, else `type`; another `type` belongs to the input."""
    async with Bus(url, "bus-asks") as bus, Lobby(url, "in-lobby", "sing") as in_lobby, \
            Collab(url, "in-collab", "sing") as in_collab, Bus(url, "on-bus", "sing") as on_bus, \
            Aacp(url, "by-mail", "sing") as by_mail:
        for provider in (in_lobby, in_collab, on_bus, by_mail):
            for payload, data in [
                ({"type": "sing", "n": 1}, {"n": 1}),
                ({"type": "sing", "capability": "sing", "n": 1}, {"n": 1}),
                ({"type": "task_request", "capability": "sing", "n": 1}, {"type": "task_request", "n": 1}),
            ]:
                sent = bus.call("sendMessage", topic=f"agent:{provider.id}", payload=payload)
                sent = asyncio.create_task(sent)
                call = await provider.called()
                assert (call.capability, call.data) == ("sing", data), f"{payload} to {provider.id}: {call}"
                await provider.give(call, {"m": 2})
                reply = await sent
                output = reply["acks"][0]["payload"] if reply["acks"] else await bus.later(reply["messageId"])
                assert output == {"m": 2}, f"{payload} to {provider.id}: {output}"


async def progress(url, folder):
    """That it is not done yet is no answer, whoever asked; the answer comes after it."""
    async with Lobby(url, "in-lobby", "work") as provider, Bus(url, "bus-asks") as bus, \
            Collab(url, "collab-asks") as asks, Aacp(url, "by-mail") as by_mail:
        for caller in (bus, by_mail):
            invocation = asyncio.create_task(caller.invoke("in-lobby", "work", {}))
            call = await provider.called()
            await provider.respond(call.raw, "in_progress", done=50)
            await provider.respond(call.raw, done=100)
            assert await invocation == {"done": 100}

        request_id = await asks.ask("in-lobby", "work", {})
        call = await provider.called()
        await provider.respond(call.raw, "in_progress", done=50)
        await provider.respond(call.raw, done=100)
        heard = (await asks.answer(request_id))["payload"]
        if heard["status"] == "partial":  # it may hear of the half
            assert heard["result"] == {"done": 50}, heard
            heard = (await asks.answer(request_id))["payload"]
        assert heard == {"status": "success", "result": {"done": 100}}, heard


async def silence(url, folder):
    """Nobody answers: who asked in the lobby hears so, whatever the provider's door."""
    # The broker must be hasty.
    for name, door in DOORS.items():
        async with Lobby(url, f"asks-{name}") as caller, door(url, f"mute-{name}", "sing") as mute:
            heard = await failure(caller.invoke(mute.id, "sing", {}))
            assert heard.text, heard


async def lifecycle(url, folder):
    """Bus peers learn who comes and goes by any door."""
    async with Bus(url, "watcher") as watcher:
        await watcher.subscribe("system:agent.*")
        for door in (Bus, Lobby, Collab):  # an agent by mail has no connection
            async with door(url, f"{door.dialect}-guest") as guest:
                await about(watcher, guest, "connected")
            await about(watcher, guest, "disconnected")


async def about(watcher, guest, event):
    params = await watcher.process()
    payload = params["payload"]
    assert params["topic"] == f"system:agent.{event}" and payload["event"] == event, params
    assert payload["agent_id"] == guest.id and payload["door"] == guest.dialect, params
