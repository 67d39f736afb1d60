"""What a client of the third generation must be able to rely on: python tests/clients/gen3 URL SCENARIO"""
import asyncio
import json
import sys

from client import Agent, Error
from reliability import disconnected, gives_up, lifecycle, retried, silence, unrouted


async def refused(code, call):
    try:
        raise AssertionError(f"this was not refused: {await call}")
    except Error as error:
        assert error.code == code, f"wanted {code}, got {error}"


async def handshake(url):
    can = ["summarize", {"name": "translate", "description": "between two languages"}]
    async with Agent(url, "third", capabilities=can, authToken=None) as agent:
        assert agent.bus["capabilities"]["processMessage"] is True, agent.bus
        for _ in "a number and a string as id":
            assert "timestamp" in await agent.call("ping")
        await refused(-32602, agent.call("sendMessage", topic="agent:third", payload={"text": "untyped"}))
        await refused(-32602, agent.call("subscribe", topic="a", policy="sometimes"))
        await agent.subscribe("a", policy="continueAll")


async def farewell(url):
    async with Agent(url, "third") as agent:
        await agent.call("ping")
    assert agent.socket.protocol.close_rcvd, "the bus hung up without a word"


async def batch(url):
    async with Agent(url, "third", "task:1") as agent:
        note = {"topic": "task:1", "payload": {"type": "task_result", "status": "done"}}
        calls = [agent.request("ping"), agent.request("sendMessage", **note), agent.request("nonsense")]
        silent = {"jsonrpc": "2.0", "method": "ping", "params": {}}
        await agent.socket.send(json.dumps([silent] + [envelope for envelope, _ in calls]))
        assert (await agent.process())["payload"] == note["payload"]
        ping, sent, unknown = [await asyncio.wait_for(reply, 20) for _, reply in calls]
        assert "timestamp" in ping["result"] and sent["result"]["success"], (ping, sent)
        assert unknown["error"]["code"] == -32601, unknown
        agent.replies[None] = asyncio.get_running_loop().create_future()
        await agent.socket.send(json.dumps([silent] * 51))
        assert (await asyncio.wait_for(agent.replies[None], 20))["error"]["code"] == -32600


async def tasks(url):
    async with Agent(url, "analyzer", "agent:analyzer") as analyzer, Agent(url, "boss") as boss:
        sent = boss.send("agent:analyzer", "task_request", task_id="task-789", priority="high")
        request_id, params = await analyzer.message()
        assert params["topic"] == "agent:analyzer" and params["from"] == "boss", params
        assert params["payload"] == {"type": "task_request", "task_id": "task-789", "priority": "high"}
        # While it works it may talk to others.
        assert (await analyzer.send("nobody:there"))["success"] is False
        await analyzer.answer(request_id, True, "Task accepted", payload={"lines": 42})
        reply = await sent
        [ack] = reply["acks"]
        assert reply["success"] and ack["client_id"] == "analyzer" and ack["processed"], reply
        assert ack["message"] == "Task accepted" and ack["payload"] == {"lines": 42}, reply


async def policies(url):
    async with Agent(url, "audit") as audit, Agent(url, "older") as older, Agent(url, "newer") as newer:
        await audit.subscribe("inbound:*", policy="continueAll")
        await older.subscribe("inbound:chat-", policy="stopPropagationOnProcessed")
        await newer.subscribe("inbound:chat-1", policy="stopPropagationOnStop")
        for stop, asked in [(False, {"audit", "newer", "older"}), (True, {"audit", "newer"})]:
            sent = audit.send("inbound:chat-1", stop=stop)
            await newer.process(stopPropagation=stop)
            if not stop:
                await older.process()
            await audit.process(stopPropagation=True)
            reply = await sent
            assert {ack["client_id"] for ack in reply["acks"]} == asked, reply
            assert reply["success"] and reply["stopPropagation"] is stop, reply


async def declined(url):
    async with Agent(url, "worker", "agent:worker") as worker, Agent(url, "boss") as boss:
        sent = boss.send("agent:worker")
        await worker.answer((await worker.message())[0], False, "not my kind of work")
        reply = await sent
        [ack] = reply["acks"]
        assert not reply["success"] and not ack["processed"] and not ack["retryScheduled"], reply
        assert ack["message"] == "not my kind of work", reply


async def receive(url, *answers):
    async with Agent(url, "receiver", "inbound:*") as agent:
        print("ready", flush=True)
        for answer in answers:
            request_id, params = await agent.message()
            assert params["payload"]["text"] == "across", params
            await agent.answer(request_id, **answer)
        await agent.call("ping")  # what was answered before it has left


async def tell(url, success, processed, scheduled):
    async with Agent(url, "sender") as agent:
        reply = await agent.send("inbound:chat-1", text="across")
        [ack] = reply["acks"]
        assert reply["success"] is success and ack["client_id"] == "receiver", reply
        assert (ack["processed"], ack["retryScheduled"]) == (processed, scheduled), reply


UNSAID = {"retry_seconds": None}
LATER = {"processed": False, "should_retry": True, "retry_seconds": 1}
SCENARIOS = {
    "handshake": handshake, "farewell": farewell, "batch": batch, "tasks": tasks,
    "policies": policies, "declined": declined,
    "retry": lambda url: retried(url, {"retry_seconds": 1}, {"retry_seconds": 1}, least=[1, 1]),
    "backoff": lambda url: retried(url, UNSAID, UNSAID, least=[0.2, 0.4]),
    "gives_up": gives_up, "silence": silence, "disconnected": disconnected,
    "lifecycle": lifecycle, "unrouted": unrouted,
    # Two halves of a story that is told with a client of another generation.
    "takes": lambda url: receive(url, {"processed": True}),
    "declines": lambda url: receive(url, {"processed": False}),
    "takes_later": lambda url: receive(url, LATER, {"processed": True}),
    "is_taken": lambda url: tell(url, True, True, False),
    "is_declined": lambda url: tell(url, False, False, False),
    "is_taken_later": lambda url: tell(url, True, False, True),
}

if __name__ == "__main__":
    asyncio.run(SCENARIOS[sys.argv[2]](sys.argv[1]))
