"""Broadcasts, events, and who hears which."""
import time

from client import HIGH, LOW, NORMAL, URGENT, Agent, refusal
from websockets.exceptions import ConnectionClosed


async def broadcasts(url):
    async with Agent(url, "sender") as sender, Agent(url, "one") as one, Agent(url, "two") as two:
        content = {"text": "héllo", "n": 10**20, "none": None}
        await sender.tell("broadcast", "news", content, priority=URGENT)
        for agent in (one, two):
            heard = await agent.hear("broadcast")
            assert heard["from"] == "sender" and heard["priority"] == URGENT, heard
            assert heard["payload"] == {"topic": "news", "content": content}, heard
        await sender.hears_nothing()
        await sender.tell("broadcast", "news", "again")
        assert (await one.hear("broadcast"))["payload"]["content"] == "again"


async def events(url):
    async with Agent(url, "sender") as sender, Agent(url, "reader") as reader, Agent(url, "other") as other:
        await reader.subscribe("news", "weather")
        await other.subscribe("sports")
        for topic in ["news", "weather", "sports"]:
            await sender.tell("event", topic, {"about": topic})
        for topic in ["news", "weather"]:
            heard = await reader.hear("event")
            assert heard["from"] == "sender", heard
            assert heard["payload"] == {"topic": topic, "content": {"about": topic}}, heard
        assert (await other.hear("event"))["payload"]["topic"] == "sports"
        await reader.router("unsubscribe", subscriberId="reader", topics=["news"])
        await sender.tell("event", "news", 1)
        await sender.tell("event", "weather", 2)
        assert (await reader.hear("event"))["payload"] == {"topic": "weather", "content": 2}
        await sender.hears_nothing()
        await sender.tell("event", "nobody cares", 3)
        await sender.router("heartbeat")


async def filters(url):
    async with Agent(url, "anna") as anna, Agent(url, "bert") as bert, Agent(url, "reader") as reader:
        await reader.subscribe("from", fromAgents=["anna"])
        await reader.subscribe("priority", priority=[HIGH, URGENT])
        await reader.subscribe("match", contentMatch="err(or)?:\\d+")
        await reader.subscribe("all", fromAgents=["anna"], priority=[LOW], contentMatch="yes")
        for n, (agent, topic, content, priority, hears) in enumerate([
            (anna, "from", "x", NORMAL, True), (bert, "from", "x", NORMAL, False),
            (anna, "priority", "x", NORMAL, False), (anna, "priority", "x", HIGH, True),
            (bert, "priority", "x", URGENT, True), (anna, "match", {"deep": ["error:42"]}, NORMAL, True),
            (anna, "match", "error:none", NORMAL, False), (anna, "all", "yes", LOW, True),
            (bert, "all", "yes", LOW, False), (anna, "all", "yes", HIGH, False),
            (anna, "all", "no", LOW, False),
        ]):
            content = [content, n]
            await agent.tell("event", topic, content, priority=priority)
            if hears:
                assert (await reader.hear("event"))["payload"]["content"] == content, (topic, n)
            else:
                await agent.router("heartbeat")
                await reader.hears_nothing()


async def patterns(url):
    """A pattern that is none, or that could take forever, is refused or is harmless."""
    async with Agent(url, "sender") as sender, Agent(url, "reader") as reader:
        async def subscribe(pattern):
            await reader.subscribe("t", contentMatch=pattern)
        for pattern in ["(", "[z-a]", "(a)\\1", "(?:a{1000}){1000}", "x" * 1_000_000]:
            try:
                await refusal(subscribe(pattern))
            except ConnectionClosed:
                raise AssertionError(f"hung up over {pattern[:20]}") from None
        await subscribe("(a+)+$")
        begin = time.monotonic()
        await sender.tell("event", "t", "a" * 50_000 + "!")
        await sender.router("heartbeat")
        await reader.hears_nothing()
        assert time.monotonic() - begin < 5, "the pattern took its time"
        for wrong in [{"fromAgents": "anna"}, {"priority": [7]}, {"contentMatch": 7}]:
            await refusal(reader.subscribe("t", **wrong))
