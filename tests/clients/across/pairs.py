"""One call from every door to every door: sixteen pairs, the same story."""
import asyncio
import traceback
import uuid

from doors import DOORS, PATIENCE, Aacp, failure, shown
from exact import Exact
from operator_desk import rule


async def every_pair(url, story):
    """Tells a story with each pair, and then which of them it was not true for."""
    wrong = []
    for caller in DOORS:
        for provider in DOORS:
            names = f"{caller}-calls-{provider}", f"{provider}-for-{caller}"
            try:
                async with DOORS[caller](url, names[0]) as calls, \
                        DOORS[provider](url, names[1], "sing") as sings:
                    await asyncio.wait_for(story(calls, sings), 2 * PATIENCE)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{where.name}:{where.lineno}"
                wrong.append(f"{caller} -> {provider}: {type(error).__name__} {error} ({where})")
    assert not wrong, "\n".join(["", *wrong])


def pairs(story):
    """Makes a scenario of a story about a caller and a provider."""
    async def scenario(url, folder):
        del folder
        await every_pair(url, story)
    return scenario


DATA = {
    "text": "héllo ☃ 😀 \u2028 \"quoted\" \\ / \n\t", "large": 2**53 + 1, "huge": -(10**40), "half": 0.5,
    "deep": {"a": [{}, [], None, True, False, {"b": {"": [[[]]]}}]}, "none": None, "empty": "", "": 1,
}


async def answered(caller, provider, data=DATA, output=DATA, name="sing"):
    """One call and its answer; returns what arrived at each end."""
    invocation = asyncio.create_task(caller.invoke(provider.id, name, data))
    call = asyncio.create_task(provider.called())
    await asyncio.wait({invocation, call}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
    if invocation.done() and not call.done():
        call.cancel()
        raise AssertionError(f"the caller heard {invocation.result()} before anybody was asked")
    call = await call
    await provider.give(call, output)
    return call, await invocation


@pairs
async def answers(caller, provider):
    call, output = await answered(caller, provider)
    assert call.capability == "sing" and call.caller == shown(caller.id, provider), call
    assert call.data == DATA, f"the input changed: {call.data}"
    assert output == DATA, f"the output changed: {output}"
    _, output = await answered(caller, provider, {}, {})
    assert output == {}, f"something was added: {output}"


@pairs
async def numbers(caller, provider):
    """The text of a number stays: 1.10 is not 1.1, nor is 1E5 100000.0."""
    texts = ["1.10", "1E5", "1.0", "-0", "1e400", "0.1000000000000000055511"]
    data = {"n": [f"number {text}" for text in texts], "big": 12345678901234567890123}
    for agent in (caller, provider):
        if isinstance(agent, Aacp):  # each request of its own, so there is no socket to keep
            agent.exact = True
            continue
        agent.socket = Exact(agent.socket)
        if hasattr(agent, "reader"):  # it reads the plain socket already
            agent.reader.cancel()
            await asyncio.wait({agent.reader})
            agent.reader = asyncio.create_task(agent.read())
    call, output = await answered(caller, provider, data, data)
    assert call.data == data, f"the input changed: {call.data}"
    assert output == data, f"the output changed: {output}"


@pairs
async def correlated(caller, provider):
    """Answers in another order than the questions find whom they are for."""
    if caller.dialect == "lobby":  # its client reads one answer at a time
        asked = [await caller.request(provider.id, "sing", n=n) for n in range(5)]
    else:
        asked = [asyncio.create_task(caller.invoke(provider.id, "sing", {"n": n})) for n in range(5)]
    calls = [await provider.called() for _ in asked]
    assert sorted(call.data["n"] for call in calls) == list(range(5)), calls
    assert len({call.key for call in calls}) == 5, "every call has a key of its own"
    for call in reversed(calls):
        await provider.give(call, {"n": call.data["n"]})
    if caller.dialect == "lobby":
        heard = [await caller.hear("RESPONSE") for _ in asked]
        assert {it["conversation_id"]: it["payload"]["n"] for it in heard} == dict(zip(asked, range(5))), heard
    else:
        assert [(await one)["n"] for one in asked] == list(range(5))


@pairs
async def failures(caller, provider):
    invocation = asyncio.create_task(failure(caller.invoke(provider.id, "sing", {})))
    await provider.fail(await provider.called(), "no voice today, sörry")
    heard = await invocation
    assert heard.text == "no voice today, sörry", heard
    _, output = await answered(caller, provider, {}, {"fine": 1})
    assert output == {"fine": 1}, "a failure is no end of the friendship"


async def denied(url, folder):
    """An operator's rule holds on every door, and each says so in its own words."""
    async def story(caller, provider):
        await asyncio.to_thread(rule, url, folder, caller.id, provider.id, "sing", "deny")
        heard = await failure(caller.invoke(provider.id, "sing", {"secret": 1}))
        assert heard.kind == caller.denied, heard
        if caller.dialect == "lobby":
            assert heard.text == (
                f"Unauthorized: Agent '{caller.id}' is not authorized to call "
                f"capability 'sing' on agent '{provider.id}'."
            ), heard
        await asyncio.to_thread(rule, url, folder, caller.id, provider.id, "sing", None)
        call, output = await answered(caller, provider, {"open": 1}, {"la": 1})
        assert call.data == {"open": 1} and output == {"la": 1}, (call, output)
    await every_pair(url, story)


@pairs
async def unknown(caller, provider):
    """Nobody of that name; and nothing of that name where the door has such an error."""
    heard = await failure(caller.invoke("nobody", "sing", {}))
    if caller.dialect != "bus":
        assert "nobody" in heard.text, heard
    if caller.dialect == "lobby" or provider.dialect == "lobby":
        heard = await failure(caller.invoke(provider.id, "dance", {}))
        assert "dance" in heard.text, heard


@pairs
async def by_alias(caller, provider):
    """An agent is also called by the UUID that its name makes."""

    alias = str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:switchboard:agent:{provider.id}"))
    invocation = asyncio.create_task(caller.invoke(alias, "sing", {"n": 1}))
    call = asyncio.create_task(provider.called())
    await asyncio.wait({invocation, call}, return_when=asyncio.FIRST_COMPLETED, timeout=5)
    if not call.done():
        call.cancel()
        raise AssertionError(f"{alias} was not called: {invocation}")
    await provider.give(call.result(), {"m": 2})
    assert await invocation == {"m": 2}


@pairs
async def traced(caller, provider):
    """What arrives by the collaboration door has a trace, wherever it came from."""
    call, _ = await answered(caller, provider, {}, {})
    if provider.dialect == "collaboration":
        trace = call.raw["metadata"].get("trace")
        assert trace and trace["traceId"] and trace["spanId"], f"no trace: {call.raw}"
