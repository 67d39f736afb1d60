"""One agent, every door: who was announced is found and called from the others, and its name is its own."""
import asyncio
import re
import time
import uuid

import collab.client
import gen3.client
import lobby.client
from aacp.client import Agent as Mailbox
from aacp.client import alias
from aacp.client import refused as refused_by_mailbox
from discovery.client import ANNOUNCE, Agent, Registry, refused

LABEL = re.compile("[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")


def found_and_called(url, folder):
    """Found from every door that can look; with a token of its own it reads its calls by AACP, and answers."""
    registry, agent = Registry(url, folder), Agent("metrics", agent_name="worker")
    assert registry.announce(agent).status == 202
    asyncio.run(found(url, {}))
    registry.operator("admit", agent.id)
    asyncio.run(found(url, {agent.id: ["metrics"]}))
    mailbox = Mailbox.issued(url, folder, agent.id)
    registry.accepts(agent)
    asyncio.run(called(url, mailbox))


def gone_everywhere(url, folder):
    """Who signs off, or is not heard of any more, is found from no door."""
    # The TTL is one second.
    registry, agent, silent = Registry(url, folder), Agent("metrics"), Agent("metrics")
    registry.accepts(agent)
    asyncio.run(found(url, {agent.id: ["metrics"]}))
    assert registry.sign_off(agent.id).status in (200, 202, 204)
    asyncio.run(found(url, {}))
    registry.accepts(silent)
    asyncio.run(found(url, {silent.id: ["metrics"]}))
    registry.gone(silent)
    asyncio.run(found(url, {}))


async def found(url, wanted):
    async with lobby.client.Agent(url, f"looks-{uuid.uuid4()}") as looks, \
            collab.client.Agent(url, f"looks-{uuid.uuid4()}") as also:
        assert await looks.discover(capability_name="metrics") == wanted
        assert await also.find("metrics") == list(wanted)


async def called(url, mailbox):
    async with lobby.client.Agent(url, "in-lobby") as asks, collab.client.Agent(url, "in-collab") as also, \
            gen3.client.Agent(url, "on-bus", "agent:on-bus") as bus:
        conversation = await asks.request(mailbox.id, "metrics", n=2**60 + 1)
        await answers(mailbox, 1, {"n": 2**60 + 1})
        assert await asks.response(conversation) == {"status": "success", "la": 1}
        request = await also.ask(mailbox.id, "metrics", {"n": 2})
        await answers(mailbox, 2, {"n": 2})
        assert await also.result(request) == {"la": 1}
        sent = await bus.send(f"agent:{mailbox.id}", "metrics", n=3)
        await answers(mailbox, 3, {"n": 3})
        params = await bus.process()
        assert params["correlation_id"] == sent["messageId"] and params["payload"]["la"] == 1, params


async def answers(mailbox, count, data):
    request = (await asyncio.to_thread(mailbox.wait, count))[0]
    assert request["content"] == {"action": "metrics", "input": data}, request
    await asyncio.to_thread(mailbox.respond, request, {"la": 1})


def owned_elsewhere(url, folder):
    """A name that another door gave to somebody is not to be had by announcing it, nor is its UUID."""
    registry = Registry(url, folder)
    by_token = Mailbox.issued(url, folder)
    named = Mailbox.issued(url, folder, "anna")

    async def registers():
        async with lobby.client.Agent(url, str(uuid.uuid4()), [lobby.client.capability("sing")]) as agent:
            return agent.id
    for owned in (by_token.id, named.alias, asyncio.run(registers())):
        thief = Agent("admin", agent_id=owned)
        registry.refuses(thief, 400, 401, 403, 409)
        found = registry.get(owned)  # it may be found as what it is
        assert not found or found["public_key"] != thief.agent["public_key"], found
        with registry.socket() as socket:
            assert socket.query("admin", 0) == []


def owned_and_shown(url, folder):
    """Whoever shows the token that owns the id may announce it; from then on its key will do."""
    registry = Registry(url, folder)
    for owner in (Mailbox.issued(url, folder), Mailbox.issued(url, folder)):
        agent = Agent("metrics", agent_id=owner.id)
        refused(registry.ask("POST", "/agents", agent.signed(), X_Agent_Token="wrong"), 401, 403, 409)
        registry.refuses(agent, 401, 403, 409)
        answer = registry.ask("POST", "/agents", agent.signed(), X_Agent_Token=owner.token)
        assert answer.status == 200, answer
        registry.finds(agent)
        registry.accepts(agent)
        assert owner.page() == ([], 0), "its token is still its own"


def owned_by_a_key(url, folder):
    """A name that a key owns is not to be had at another door without a token for it."""
    registry, agent = Registry(url, folder), Agent("metrics")
    registry.accepts(agent)

    async def tries():
        for door in (lobby.client.Agent, collab.client.Agent, gen3.client.Agent):
            try:
                async with door(url, agent.id):
                    raise RuntimeError(f"{door.__module__} let somebody in as {agent.id}")
            except (AssertionError, gen3.client.Error, collab.client.Refused):
                pass
    asyncio.run(tries())
    thief = Mailbox(url, agent.id, None)
    refused_by_mailbox(thief.ask("GET", f"/api/v1/protocol/messages/{agent.id}"), 401)
    registry.finds(agent)


def bus_hears(url, folder):
    """Who subscribes to `discovery` on the bus hears of announcements."""
    registry, agent = Registry(url, folder), Agent("metrics")

    async def hears():
        async with gen3.client.Agent(url, "watcher", "discovery") as watcher:
            await asyncio.to_thread(registry.accepts, agent)
            params = await watcher.process()
            assert params["topic"] == "discovery", params
            payload = params["payload"]
            assert payload["agent"] == agent.agent and payload["protocol_version"] == "v1.0", params
            assert payload["signature"], params
    asyncio.run(hears())


def announced_call_waits(url, folder):
    """A call to one that was announced and has no connection waits for it."""
    registry, agent = Registry(url, folder), Agent("metrics")
    registry.accepts(agent)
    mailbox = Mailbox.issued(url, folder)
    sent = mailbox.send(agent.id, {"action": "metrics", "input": {"n": 1}})
    owner = Mailbox.issued(url, folder, agent.id)
    began = time.monotonic()
    assert [it["id"] for it in owner.read(wait=8)] == [sent["id"]]
    assert time.monotonic() - began < 5, "it was there"
    owner.respond(sent, {"la": 1})
    assert mailbox.wait()[0]["content"]["output"] == {"la": 1}


def others_are_found(url, folder):
    """Who joined by another door is found here, too, by the UUID of its name, and fits the schema of this one."""
    registry = Registry(url, folder)
    mailbox = Mailbox.issued(url, folder, "söng:1/2")

    async def joined():
        async with lobby.client.Agent(url, "in-lobby", [lobby.client.capability("sing")]), \
                collab.client.Agent(url, "in_collab", "sing"), gen3.client.Agent(url, "on.bus", capabilities=["sing"]):
            await asyncio.to_thread(looks)

    def looks():
        wanted = sorted(alias(name) for name in ("in-lobby", "in_collab", "on.bus"))
        with registry.socket() as socket:
            assert [agent["agent_id"] for agent in socket.query("sing", 3)] == wanted
        there = registry.all()
        assert {*wanted, mailbox.alias} <= there.keys(), there
        for agent in there.values():
            assert LABEL.fullmatch(agent.get("agent_name", "none")), f"no DNS label: {agent}"
            assert all(isinstance(version, str) for version in agent["capabilities"].values()), agent
            assert {"type", "endpoint"} <= agent["transport"].keys(), agent
    asyncio.run(joined())


def bus_announces(url, folder):
    """Who publishes its announcement on the topic `discovery` has announced itself; a forged one is none."""
    registry, agent, forged = Registry(url, folder), Agent("metrics"), Agent("metrics")

    async def publishes():
        async with gen3.client.Agent(url, "publisher") as bus:
            await bus.send("discovery", "announce", **forged.signed() | {"signature": "AAAA"})
            assert (await bus.send("discovery", "announce", **agent.signed()))["success"]
    with registry.socket() as watcher:
        asyncio.run(publishes())
        assert watcher.hear(ANNOUNCE)["agent"] == agent.agent
    registry.finds(agent)
    registry.misses(forged)
