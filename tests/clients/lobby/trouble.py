"""What is no message, too much of one, or meant to hurt."""
import asyncio
import json

from client import LOBBY, PATIENCE, Agent, capability, message, post, register_by_http
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus


async def malformed(url):
    """What is not a message is answered with ERROR, and nobody loses a connection over it."""
    nonsense = ["", "{", "[]", "7", "null", '{"sender_id": "odd"}', '"text"']
    async with Agent(url, "odd") as odd:
        base = message("odd", LOBBY, "DISCOVER_SERVICES", {"capability_name": "a"}, "k", odd.token)
        wrong = [base | {"message_type": "DANCE"}, base | {"payload": "text"}, base | {"payload": {}},
                 base | {"receiver_id": 7}, base | {"payload": {"capability_name": 7}},
                 base | {"message_type": None}, base | {"message_type": "REGISTER_ACK"}]
        for said in nonsense + wrong:
            await odd.write(said)
            heard = json.loads(await asyncio.wait_for(odd.socket.recv(), PATIENCE))
            assert heard["message_type"] == "ERROR" and heard["payload"]["error"], f"{said}: {heard}"
        await odd.hears_nothing()
    for said in nonsense:
        async with connect(url + "/lobby") as socket:
            await socket.send(said)
            heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
            assert heard["message_type"] == "ERROR", f"{said}: {heard}"
        status, heard = post(url, "/api/register", said, {})
        assert 400 <= status < 500, f"{said} by HTTP: {status} {heard}"


async def strangers(url):
    """Before it has registered nobody may do anything, and web pages may not even try."""
    async with connect(url + "/lobby") as socket:
        query = message("stranger", LOBBY, "DISCOVER_SERVICES", {"capability_name": "a"})
        await socket.send(json.dumps(query))
        heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        assert heard["message_type"] == "ERROR", heard
        assert heard["payload"]["error"].startswith("Authentication failed"), heard
    for path in ["/lobby", "/ws/owner?token=x"]:
        try:
            async with connect(url + path, origin="http://evil.example"):
                raise AssertionError(f"{path} let a web page in")
        except InvalidStatus as refusal:
            assert refusal.response.status_code == 403, f"{path}: {refusal}"
    for header in [{"Origin": "http://evil.example"}, {"Host": "evil.example"}]:
        status, heard = register_by_http(url, "page", **header)
        assert status == 403, f"{header}: {status} {heard}"


async def limits(url):
    """REGISTER may be 64 KiB with its schemas, a message after that 1 MiB."""
    def offer(size):
        return [capability("sing", input_schema={"description": "x" * size})]
    async with Agent(url, "large", offer(50_000)) as large:
        await large.hears_nothing()
    for size in [100_000, 2_000_000]:
        await too_large(url + "/lobby", message("huge", LOBBY, "REGISTER", {"capabilities": offer(size)}))
        status, heard = register_by_http(url, "huge", offer(size))
        assert status == 413, f"{size} by HTTP: {status} {heard}"
    async with Agent(url, "asker") as asker, Agent(url, "singer", [capability("sing")]) as singer:
        conversation = await asker.request("singer", "sing", text="x" * 1_000_000)
        request = await singer.hear("REQUEST")
        assert len(request["payload"]["text"]) == 1_000_000
        await singer.respond(request)
        await asker.response(conversation)
        await asker.request("singer", "sing", text="x" * 1_100_000)
        await told_too_large(asker.socket)
        await singer.hears_nothing()
    query = {"capability_name": "x" * 9_000}
    await too_large(url + "/lobby", message("huge", LOBBY, "DISCOVER_SERVICES", query))


async def too_large(address, said):
    async with connect(address) as socket:
        await socket.send(json.dumps(said))
        await told_too_large(socket)


async def told_too_large(socket):
    """A definite end: ERROR, a RESPONSE that says so, or the connection closed as too large."""
    try:
        heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        failed = heard["message_type"] == "RESPONSE" and heard["payload"]["status"] == "error"
        assert heard["message_type"] == "ERROR" or failed, heard
    except ConnectionClosed as end:
        assert end.rcvd and end.rcvd.code in (1008, 1009), f"hung up without a word: {end}"


async def idle(url):
    """Who says nothing is sent away."""
    async with connect(url + "/lobby") as socket:
        try:
            while True:
                heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
                assert heard["message_type"] == "ERROR", heard
        except ConnectionClosed:
            pass


async def either(*agents):
    """What the first of them hears, unread."""
    ends = [asyncio.create_task(agent.socket.recv()) for agent in agents]
    done, late = await asyncio.wait(ends, timeout=5, return_when=asyncio.FIRST_COMPLETED)
    for end in late:
        end.cancel()
    assert done, "nobody heard anything"
    return done.pop().result()


async def hostile(url):
    """Deep, doubled and binary JSON: answered or forwarded, but the broker stands."""
    singing = [capability("sing", input_schema={"type": "object"})]
    async with Agent(url, "asker") as asker, Agent(url, "singer", singing) as singer:
        for depth in (100, 5_000, 200_000):
            payload = {"capability_name": "sing", "x": 0}
            said = json.dumps(message("asker", "singer", "REQUEST", payload, "k", asker.token))
            await asker.write(said.replace('"x": 0', '"x": ' + "[" * depth + "]" * depth))
            raw = await either(asker, singer)
            assert "[" * depth in raw.replace(" ", "") or '"error"' in raw, raw[:500]
        await asker.write('{"sender_id": "singer", "sender_id": "asker", "receiver_id": "global_lobby"}')
        await asker.error()
        await asker.write(b"\xff\xfe{}")
        await asker.error()
        for wrong in ["sing", [7], [{}], [{"name": ""}], [{"name": 7}], [capability("a"), None], {}]:
            await asker.say("CAPABILITY_UPDATE", LOBBY, {"capabilities": wrong})
            await asker.error()
        await asker.hears_nothing()


async def hostile_schemas(url):
    """A schema that is deep or wide, or an answer that is: the broker stands."""
    deep = message("deep", LOBBY, "REGISTER", {"capabilities": [capability("sing", input_schema=0)]})
    nots = '{"not":' * 5_000 + "{}" + "}" * 5_000
    async with connect(url + "/lobby") as socket:
        await socket.send(json.dumps(deep).replace('"input_schema": 0', f'"input_schema": {nots}'))
        heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        assert heard["message_type"] in ("ERROR", "REGISTER_ACK"), heard
    # Itself within itself: valid, and endless for whoever follows it naively.
    endless = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "$ref": "#/$defs/a"}
    slow = {"properties": {"s": {"pattern": "^(a+)+$"}}}
    async with Agent(url, "asker") as asker:
        for name, schema in [("endless", endless), ("slow", slow)]:
            async with Agent(url, name, [capability("sing", input_schema=schema)], token="unset") as odd:
                heard = await odd.register()
                if heard["message_type"] == "ERROR":
                    continue
                odd.token = heard["payload"]["auth_token"]
                await asker.request(name, "sing", s="a" * 40 + "!")
                await either(asker, odd)


async def answers_deep(url):
    """An answer too deep to measure is an answer that does not fit, or it is forwarded."""
    offer = [capability("sing", output_schema={"type": "object", "required": ["x"]})]
    async with Agent(url, "asker") as asker, Agent(url, "singer", offer) as singer:
        conversation = await asker.request("singer", "sing")
        await singer.hear("REQUEST")
        said = message("singer", "asker", "RESPONSE", {"status": "success", "x": 0}, conversation, singer.token)
        await singer.write(json.dumps(said).replace('"x": 0', '"x": ' + "[" * 200_000 + "]" * 200_000))
        raw = await asyncio.wait_for(asker.socket.recv(), PATIENCE)
        assert conversation in raw, raw[:300]
