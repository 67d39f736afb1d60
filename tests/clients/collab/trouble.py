"""Strangers, and what is no message or too much of one."""
import asyncio
import json

from client import PATIENCE, ROUTER, Agent
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus


async def strangers(url):
    """Nobody does anything before it has registered, nor as somebody else, nor from a web page."""
    async with Agent(url, "honest", "sing") as honest:
        async with Agent(url, "stranger", register=False) as stranger:
            await stranger.refused("findAgents", requiredCapabilities=["sing"])
            heard = await stranger.answer(await stranger.ask("honest", "sing", {}))
            assert heard["payload"]["status"] == "error" and heard["to"] == "stranger", heard
        async with Agent(url, "sly") as sly:
            request = sly.message("request", "honest", {"action": "sing", "parameters": {}})
            sly.answers[request["id"]] = asyncio.Queue()
            await sly.write(request | {"from": "somebody"})
            heard = await asyncio.wait_for(sly.answers[request["id"]].get(), PATIENCE)
            assert heard["payload"]["status"] == "error", heard
            await sly.refused("subscribe", subscriberId="honest", topics=["news"])
        await honest.hears_nothing()
    try:
        async with connect(url + "/collab", origin="http://evil.example"):
            raise AssertionError("a web page got in")
    except InvalidStatus as refused:
        assert refused.response.status_code == 403, refused


async def malformed(url):
    """What is no message is answered with an error, and nobody loses a connection over it."""
    async with Agent(url, "odd") as odd, Agent(url, "other") as other:
        base = odd.message("request", "other", {"action": "sing", "parameters": {}})
        wrong = ["", "{", "[]", "7", "null", '"text"', "{}"]
        wrong += [base | change for change in (
            {"type": "dance"}, {"type": None}, {"to": 7}, {"to": None}, {"to": []}, {"to": ["other", 7]},
            {"payload": "text"}, {"payload": {}}, {"payload": {"action": 7, "parameters": {}}},
            {"id": 7}, {"metadata": 7}, {"from": 7},
            {"type": "response", "payload": {"status": "success"}},
            {"type": "event", "payload": {"content": 1}}, {"type": "broadcast", "to": "*", "payload": {}},
        )]
        for said in wrong:
            odd.answers[base["id"]] = odd.inbox
            await odd.write(said)
            try:
                heard = await odd.hear("response", patience=5)
            except TimeoutError:
                raise AssertionError(f"no answer to {said}") from None
            assert heard["payload"]["status"] == "error" and heard["from"] == ROUTER, f"{said}: {heard}"
        del odd.answers[base["id"]]
        await odd.hears_nothing()
        await other.hears_nothing()


async def odd_recipients(url):
    """The same one twice is asked once; nobody among several is said; oneself is somebody too."""
    async with Agent(url, "asker", "sing") as asker, Agent(url, "singer", "sing") as singer:
        request_id = await asker.ask(["singer", "singer"], "sing", {"n": 1})
        await singer.respond(await singer.hear("request"), 1)
        assert await asker.result(request_id) == 1
        await singer.hears_nothing()
        request_id = await asker.ask(["singer", "nobody"], "sing", {})
        heard = await asker.answer(request_id)
        assert heard["payload"]["status"] == "error", f"nobody was not mentioned: {heard}"


async def limits(url):
    """`register` may be 64 KiB, a message 1 MiB, and too much is said to be."""
    async with Agent(url, "asker", *(f"capability-{n:0100}" for n in range(200))) as asker, \
            Agent(url, "singer", "sing") as singer:
        request_id = await asker.ask("singer", "sing", {"text": "x" * 1_000_000})
        await singer.respond(await singer.hear("request"), "y" * 1_000_000)
        assert await asker.result(request_id) == "y" * 1_000_000
        request_id = await asker.ask("singer", "sing", {"text": "x" * 1_100_000})
        del asker.answers[request_id]  # so large that nobody looks for its id
        heard = await asyncio.wait_for(asker.inbox.get(), PATIENCE)
        if heard is None:
            assert asker.socket.protocol.close_rcvd.code in (1008, 1009), "hung up without a word"
        else:
            assert heard["payload"]["status"] == "error", heard


async def idle(url):
    """Who does not register is sent away."""
    async with connect(url + "/collab") as socket:
        try:
            while True:
                heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
                assert heard["payload"]["status"] == "error", heard
        except ConnectionClosed:
            pass
