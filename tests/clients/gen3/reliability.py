"""What happens to messages that are not processed at once, and what the bus itself has to say."""
import json
import time

from client import Agent


async def retried(url, *answers, least):
    """Answers thus, and then processes; `least` are the seconds to wait before each new attempt."""
    async with Agent(url, "worker", "agent:worker") as worker, Agent(url, "boss") as boss:
        sent, first, before = boss.send("agent:worker", n=10**25), None, None
        for wait, answer in zip([0, *least], [*answers, None]):
            request_id, params = await worker.message()
            first, now = first or params, time.monotonic()
            assert params == first, f"another message came: {params} instead of {first}"
            assert before is None or now - before >= wait, f"after {now - before} s instead of {wait}"
            before = now
            if answer is not None:
                await worker.answer(request_id, False, "not yet", should_retry=True, **answer)
            if not sent.done():
                reply = await sent
                [ack] = reply["acks"]
                assert reply["success"] and not ack["processed"] and ack["retryScheduled"], reply
                assert ack["retrySeconds"] >= least[0], reply
        await worker.answer(request_id, True, "at last")
        await worker.call("ping")  # what was answered before it has left


async def gives_up(url):
    """Three attempts, then it is a dead letter."""
    async with Agent(url, "worker", "agent:worker") as worker, Agent(url, "boss") as boss:
        sent = boss.send("agent:worker")
        for _ in range(3):
            await worker.answer((await worker.message())[0], False, "no", should_retry=True, retry_seconds=0)
        # `success` may be either: without a delay the last attempt can be over before the reply.
        [ack] = (await sent)["acks"]
        assert not ack["processed"] and ack["retryScheduled"], "the first attempt left two"
        await worker.call("ping")


async def silence(url):
    """Who never answers is asked again, as is who answers with an error."""
    async with Agent(url, "worker", "agent:worker") as worker, Agent(url, "boss") as boss:
        sent = boss.send("agent:worker")
        _, first = await worker.message()
        reply = await sent
        assert reply["success"] and reply["acks"][0]["retryScheduled"], reply
        request_id, again = await worker.message()
        error = {"code": -32603, "message": "the model is overloaded"}
        await worker.socket.send(json.dumps({"jsonrpc": "2.0", "error": error, "id": request_id}))
        assert first == again == await worker.process()
        await worker.call("ping")


async def disconnected(url):
    """Who goes away with a message in hand gets it again on return."""
    async with Agent(url, "boss") as boss:
        async with Agent(url, "worker", "agent:worker") as worker:
            sent = boss.send("agent:worker", n=1)
            _, first = await worker.message()
        reply = await sent
        assert reply["success"], reply
        assert (await boss.send("agent:worker", n=2))["success"], "it waits for who is away"
        async with Agent(url, "worker", "agent:worker") as worker:
            again = [await worker.process(), await worker.process()]
            assert sorted(params["payload"]["n"] for params in again) == [1, 2], again
            assert first in again, again
            await worker.call("ping")


async def lifecycle(url):
    async with Agent(url, "watcher", "system:agent.*", "agent:*") as watcher, \
            Agent(url, "everything", "*") as everything:
        await coming_and_going(watcher, "everything", "connected")
        async with Agent(url, "guest"):
            await coming_and_going(watcher, "guest", "connected")
        await coming_and_going(watcher, "guest", "disconnected")
        sent = watcher.send("task:1")
        heard = await everything.process()
        assert heard["topic"] == "task:1", f"`*` is not for the bus's own events: {heard}"
        assert (await sent)["success"]


async def coming_and_going(watcher, agent_id, event):
    heard = [await watcher.process(), await watcher.process()]
    topics = {params["topic"] for params in heard}
    assert topics == {f"system:agent.{event}", f"agent:{event}"}, heard
    for params in heard:
        payload = params["payload"]
        assert payload["type"] == "agent_event" and payload["agent_id"] == agent_id, payload
        assert payload["event"] == event and isinstance(payload["timestamp"], str), payload


async def unrouted(url):
    """A peer takes care of what nobody listens to, here by listening to it."""
    async with Agent(url, "handler", "system:unrouted") as handler, Agent(url, "bridge") as bridge:
        sent = bridge.send("tg:123", "telegram_message", text="hello")
        request_id, params = await handler.message()
        payload = params["payload"]
        assert payload["type"] == "unrouted" and payload["topic"] == "tg:123", payload
        assert payload["payload"] == {"type": "telegram_message", "text": "hello"}, payload
        await handler.answer(request_id, True, "an agent is on its way")
        async with Agent(url, "conversation", "tg:123") as conversation:
            heard = await conversation.process()
            assert heard["payload"] == payload["payload"] and heard["topic"] == "tg:123", heard
            assert heard["messageId"] == payload["message_id"], (heard, payload)
            assert (await sent)["success"] is True
