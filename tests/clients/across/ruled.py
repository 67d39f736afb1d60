"""What the operator decides holds on every door: rules, tokens and how urgent somebody may be."""
import asyncio

import lobby.client
from doors import DOORS, Bus, Collab, Lobby, failure
from operator_desk import console, rule
from pairs import answered
from websockets.exceptions import ConnectionClosed


async def overrules(url, folder):
    """The operator's rule counts before what the provider declared, and discovery knows it."""
    async with Lobby(url, "asker") as asker, Lobby(url, "open", "sing") as open_one, \
            Lobby(url, "closed") as closed:
        closed.capabilities = [lobby.client.capability("sing", ["somebody"])]
        assert (await closed.register(closed.token))["message_type"] == "REGISTER_ACK"
        assert await asker.discover(capability_name="sing") == {"open": ["sing"]}
        rule(url, folder, "asker", "open", "sing", "deny")
        rule(url, folder, "asker", "closed", "*", "allow")
        assert await asker.discover(capability_name="sing") == {"closed": ["sing"]}
        _, output = await answered(asker, closed, {}, {"la": 1})
        assert output == {"la": 1}
        await failure(asker.invoke("open", "sing", {}))
        # The more exact rule wins, whatever the order; deny wins a tie.
        rule(url, folder, "ask*", "open", "sing", "allow")
        await failure(asker.invoke("open", "sing", {}))
        rule(url, folder, "asker", "open", "sing", None)
        await answered(asker, open_one, {}, {})
        rule(url, folder, "asker", "ope*", "sing", "deny")
        await failure(asker.invoke("open", "sing", {}))
        await open_one.hears_nothing()


async def events(url, folder):
    """For events the talker is the caller, the listener the provider, the topic the capability."""
    async with Collab(url, "anna") as anna, Collab(url, "bert") as bert, Collab(url, "reader") as reader, \
            Bus(url, "on-bus") as bus:
        await reader.subscribe("news", "weather")
        await bus.subscribe("broadcast:news")
        rule(url, folder, "anna", "reader", "news", "deny")
        for sender, topic in [(anna, "news"), (anna, "weather"), (bert, "news")]:
            await sender.tell("event", topic, sender.id)
            await sender.router("heartbeat")
        heard = [(await reader.hear("event"))["payload"] for _ in range(2)]
        wanted = [{"topic": "weather", "content": "anna"}, {"topic": "news", "content": "bert"}]
        assert heard == wanted, heard
        rule(url, folder, "anna", "reader", "*", "deny")
        await anna.tell("broadcast", "news", "to all")
        assert (await bert.hear("broadcast"))["payload"]["content"] == "to all"
        await bus.process()
        await reader.hears_nothing()


async def redirects(url, folder):
    """Who may not call the stand-in is not sent to it because somebody is busy."""
    async with Collab(url, "asker") as asker, Collab(url, "singer", "sing") as singer, \
            Collab(url, "ruled-out", "sing") as ruled_out, Lobby(url, "closed") as closed:
        closed.capabilities = [lobby.client.capability("sing", ["somebody"])]
        await closed.register(closed.token)
        rule(url, folder, "asker", "ruled-out", "sing", "deny")
        await singer.router("setStatus", status="busy")
        request_id = await asker.ask("singer", "sing", {})
        await asker.router("heartbeat")
        await ruled_out.hears_nothing()
        await closed.hears_nothing()
        await singer.router("setStatus", status="ready")
        await singer.respond(await singer.hear("request"), "la")
        assert await asker.result(request_id) == "la"


async def busy(url, folder):
    """Who is busy is spared by callers of every door."""
    async with Collab(url, "singer", "sing") as singer:
        for name, door in DOORS.items():
            async with door(url, f"{name}-asks") as caller:
                await singer.router("setStatus", status="busy")
                invocation = asyncio.create_task(caller.invoke("singer", "sing", {"by": name}))
                async with Lobby(url, f"{name}-later") as later:
                    await later.hears_nothing()
                await singer.hears_nothing()
                await singer.router("setStatus", status="ready")
                call = await singer.called()
                assert call.data == {"by": name}, call
                await singer.give(call, {"la": name})
                if name != "bus":  # its caller may have heard by now that the message waits
                    assert await invocation == {"la": name}
                else:
                    await asyncio.wait({invocation}, timeout=20)
                    assert invocation.exception() is None, invocation


async def revoked(url, folder):
    """A token taken away: connections end, and nobody comes back by it, at any door."""
    async with Lobby(url, "in-lobby", "sing") as in_lobby, Collab(url, "in-collab", "sing") as in_collab:
        for agent in (in_lobby, in_collab):
            console(url, folder, "revokeToken", agent=agent.id)
        try:
            while True:
                await asyncio.wait_for(in_lobby.socket.recv(), 10)
        except ConnectionClosed:
            pass
        while await asyncio.wait_for(in_collab.inbox.get(), 10) is not None:
            pass
    for agent in (in_lobby, in_collab):
        for door in DOORS.values():
            try:
                async with door(url, agent.id, token=agent.token):
                    raise RuntimeError(f"{door.dialect} let {agent.id} in with a revoked token")
            except RuntimeError:
                raise
            except Exception as refused:
                assert not isinstance(refused, TimeoutError), f"{door.dialect}: silence"


async def ceilings(url, folder):
    """A token may say how urgent its owner can be."""
    token = console(url, folder, "issueToken", agent="modest", ceiling="NORMAL")["token"]
    async with Collab(url, "singer", "sing") as singer:
        async with Collab(url, "modest", token=token) as modest:
            for priority, arrives in [(3, 1), (2, 1), (1, 1), (0, 0)]:
                request_id = await modest.ask("singer", "sing", {}, priority)
                call = await singer.called()
                assert call.priority == arrives, f"{priority} became {call.priority}"
                await singer.give(call, {})
                await modest.result(request_id)
        async with Lobby(url, "modest", token=token) as modest:
            await modest.say("REQUEST", "singer", {"capability_name": "sing"}, "k", priority=0)
            call = await singer.called()
            assert call.priority == 1, call
