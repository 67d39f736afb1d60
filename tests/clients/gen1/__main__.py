"""What a client of the first generation must be able to rely on: python tests/clients/gen1 URL SCENARIO"""
import asyncio
import sys

from client import Client, RpcError


async def start(url, name, topic=None, **more):
    client = Client(name, **more)
    await client.connect(url)
    if topic:
        await client.subscribe(topic)
    return client


async def refused(code, call):
    try:
        result = await call
    except RpcError as error:
        assert error.args == (code,), f"wanted {code}, got {error}"
    else:
        raise AssertionError(f"wanted {code}, got {result}")


async def handshake(url):
    client = Client("first")
    await client.connect(url, initialize=False)
    await refused(-32001, client.call("ping", {}))
    info = {"name": "first", "version": "0.1.0"}
    await refused(-32002, client.call("initialize", {"clientInfo": info}))
    hello = await client.call("initialize", {"clientId": "first", "clientInfo": info})
    assert isinstance(hello["serverId"], str) and hello["serverInfo"]["name"] == "bub-bus", hello
    can = hello["capabilities"]
    assert can["subscribe"] is can["publish"] is True and "inbound:*" in can["topics"], hello
    await refused(-32001, client.call("initialize", {"clientId": "first", "clientInfo": info}))
    assert isinstance((await client.call("ping", {}))["timestamp"], str)
    await refused(-32602, client.call("subscribe", {}))
    await refused(-32601, client.call("publish", {"topic": "a", "payload": {}}))


async def subscriptions(url):
    client = await start(url, "first", "inbound:chat-*")
    await refused(-32003, client.call("subscribe", {"topic": "inbound:chat-*"}))
    await refused(-32004, client.call("unsubscribe", {"topic": "inbound:chat-1"}))
    assert (await client.call("unsubscribe", {"topic": "inbound:chat-*"}))["success"] is True
    assert await client.send("inbound:chat-1", {"text": "hello"}) == (False, False), "nobody is left"
    assert client.inbox.empty(), "it heard what it had left"


async def learns(url):
    """The broker tries `processMessage` once, and then knows better."""
    listener, sender = await start(url, "listener", "inbound:chat-1"), await start(url, "sender")
    payloads = [{"chat_id": "chat-1", "text": "hé"}, "only a text", ["a", 1], {"n": 10**30}]
    for payload in payloads:
        assert await sender.send("inbound:chat-1", payload) == (True, False), payload
        assert await listener.heard() == ("inbound:chat-1", payload)
    assert listener.refused == ["processMessage"], f"refused {listener.refused}"


async def interceptors(url):
    """All that match hear a message, the newest first, until one stops it."""
    logger = await start(url, "logger", "inbound:*")
    worker = await start(url, "worker", "inbound:chat-")
    guard = await start(url, "guard", "inbound:chat-1")
    sender = await start(url, "sender")
    assert await sender.send("inbound:chat-1", {"text": "fine"}) == (True, False)
    for listener in (guard, worker, logger):
        assert await listener.heard() == ("inbound:chat-1", {"text": "fine"}), listener.name
    guard.answer = (True, True)
    assert await sender.send("inbound:chat-1", {"text": "stop me"}) == (True, True)
    assert await guard.heard() == ("inbound:chat-1", {"text": "stop me"})
    assert await sender.send("inbound:chat-2", {"text": "next"}) == (True, False)
    for listener in (worker, logger):
        assert await listener.heard() == ("inbound:chat-2", {"text": "next"}), "the stopped one"


async def receive(url, topic, answer):
    client = await start(url, "receiver", topic, answer=answer)
    print("ready", flush=True)
    assert (await client.heard())[1]["text"] == "across"
    await client.call("ping", {})  # what was answered before it has left


async def tell(url, wanted):
    sender = await start(url, "sender")
    assert (await sender.send("inbound:chat-1", {"text": "across"}))[0] is wanted


SCENARIOS = {
    "handshake": handshake,
    "subscriptions": subscriptions,
    "learns": learns,
    "interceptors": interceptors,
    # Two halves of a story that is told with a client of another generation.
    "takes": lambda url: receive(url, "inbound:*", (True, False)),
    "declines": lambda url: receive(url, "inbound:*", (False, False)),
    "is_taken": lambda url: tell(url, True),
    "is_declined": lambda url: tell(url, False),
}

if __name__ == "__main__":
    asyncio.run(SCENARIOS[sys.argv[2]](sys.argv[1]))
