"""Agents that were announced, admitted and given a token: called from every door, they answer by mail."""
import asyncio
import json

import discovery.client
from aacp.client import bub
from doors import DOORS, Aacp, failure
from pairs import DATA, answered


class Announced(Aacp):
    """What it can do is in the document that it signed."""

    def __init__(self, url, folder, capability):
        self.registry = discovery.client.Registry(url, folder)
        self.document = discovery.client.Agent(capability)
        super().__init__(url, self.document.id)

    async def __aenter__(self):
        await asyncio.to_thread(self.admitted)
        self.reader = asyncio.create_task(self.read())
        return self

    def admitted(self):
        assert self.registry.announce(self.document).status == 202
        self.registry.operator("admit", self.id)
        self.token = json.loads(bub(self.registry.folder, "token", "issue", self.id, "--json"))["token"]


async def announced(url, folder):
    """Found where one can look, called from every door, and heard by whoever asked."""
    async with Announced(url, folder, "sing") as provider, DOORS["lobby"](url, "looks") as looks, \
            DOORS["collab"](url, "also") as also:
        assert await looks.discover(capability_name="sing") == {provider.id: ["sing"]}
        assert await also.find("sing") == [provider.id]
        for name, door in DOORS.items():
            async with door(url, f"{name}-asks") as caller:
                call, output = await answered(caller, provider)
                assert call.capability == "sing" and call.data == DATA and output == DATA, f"{name}: {call} {output}"
                invocation = asyncio.create_task(failure(caller.invoke(provider.id, "sing", {})))
                await provider.fail(await provider.called(), "no voice today, sörry")
                assert (await invocation).text == "no voice today, sörry", name


async def announced_calls(url, folder):
    """It calls, too, and whom it calls sees the id that it announced."""
    async with Announced(url, folder, "sing") as caller:
        for name, door in DOORS.items():
            async with door(url, f"{name}-sings", "sing") as provider:
                call, output = await answered(caller, provider)
                assert call.caller == caller.id and call.data == DATA and output == DATA, f"{name}: {call} {output}"


async def says_failed(url, folder):
    """A receiver by mail that only says `failed`: whoever asked hears of it, at every door."""
    async with Aacp(url, "by-mail", "sing") as provider:
        for name, door in DOORS.items():
            async with door(url, f"{name}-asks") as caller:
                invocation = asyncio.create_task(failure(caller.invoke(provider.id, "sing", {})))
                call = await provider.called()
                path = f"/api/v1/protocol/messages/{call.raw['id']}/status"
                answer = await provider.ask("POST", path, {"status": "failed"})
                assert answer.status == 200, answer
                await invocation


async def comes_by_mail(url, folder):
    """What waited for an agent of another door is there at once when it comes by mail."""
    async with DOORS["bus"](url, "asks") as caller:
        await caller.subscribe("system:agent.disconnected")
        for name in ("lobby", "collab"):
            async with DOORS[name](url, f"{name}-moves", "sing") as before:
                pass
            assert (await caller.process())["payload"]["agent_id"] == before.id
            sent = await caller.call("sendMessage", topic=f"agent:{before.id}", payload={"type": "sing", "n": 1})
            began = asyncio.get_running_loop().time()
            messages = await Aacp(url, before.id, token=before.token).page(wait=8)
            assert asyncio.get_running_loop().time() - began < 5, f"{name}: it was there"
            assert [it["id"] for it in messages] == [sent["messageId"]], messages
            assert messages[0]["content"] == {"action": "sing", "input": {"n": 1}}, messages
