"""Coming, going, and who may be whom."""
import asyncio
import json

from client import LOBBY, PATIENCE, Agent, capability, message, register_by_http
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

AUTHENTICATION = "Authentication failed"


def ack(heard, agent_id, status):
    """A REGISTER_ACK, which may say more than it must; returns its token."""
    assert heard["message_type"] == "REGISTER_ACK" and heard["sender_id"] == LOBBY, heard
    assert heard["receiver_id"] == agent_id, heard
    payload = heard["payload"]
    assert payload["status"] == status and payload["lobby_id"] == LOBBY, heard
    token = payload["auth_token"]
    assert isinstance(token, str) and len(token) >= 32, f"too short for a secret: {heard}"
    return token


async def registers(url):
    async with connect(url + "/lobby") as socket:
        said = message("newcomer", LOBBY, "REGISTER", {"capabilities": [capability("sing")]}, "hello")
        await socket.send(json.dumps(said))
        heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        ack(heard, "newcomer", "success_registered_finalized")
        assert heard["conversation_id"] == "hello", heard
    async with connect(url + "/lobby") as socket:
        # Only what the specification calls for: no conversation_id, no auth_token.
        said = {"sender_id": "plain", "receiver_id": LOBBY, "message_type": "REGISTER", "payload": {}}
        await socket.send(json.dumps(said | {"payload": {"capabilities": []}}))
        heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        ack(heard, "plain", "success_registered_finalized")


async def registers_by_http(url):
    status, heard = register_by_http(url, "caller")
    assert status in (200, 201), (status, heard)
    token = ack(heard, "caller", "success")
    async with Agent(url, "caller", token=token, door=f"/ws/caller?token={token}") as caller, \
            Agent(url, "singer", [capability("sing")]) as singer:
        assert await caller.discover(capability_name="sing") == {"singer": ["sing"]}
        conversation = await caller.request("singer", "sing", line=1)
        await singer.respond(await singer.hear("REQUEST"), line=2)
        assert await caller.response(conversation) == {"status": "success", "line": 2}
    status, heard = register_by_http(url, "caller")
    assert 400 <= status < 500 and token not in str(heard), (status, heard)
    status, heard = register_by_http(url, "caller", [capability("hum")], token)
    assert status in (200, 201), f"with its own token: {status} {heard}"


async def provides_by_http(url):
    """Who registered by HTTP is found before it connects, and called once it has."""
    _, heard = register_by_http(url, "singer", [capability("sing")])
    token = ack(heard, "singer", "success")
    async with Agent(url, "asker") as asker:
        assert await asker.discover(capability_name="sing") == {"singer": ["sing"]}
        async with Agent(url, "singer", token=token, door=f"/ws/singer?token={token}") as singer:
            conversation = await asker.request("singer", "sing")
            await singer.respond(await singer.hear("REQUEST"), song="la")
            assert (await asker.response(conversation))["song"] == "la"


async def refused_at_the_door(url):
    _, heard = register_by_http(url, "owner")
    token = ack(heard, "owner", "success")
    _, heard = register_by_http(url, "other")
    for path in ["owner?token=wrong", "owner", "nobody?token=wrong", f"other?token={token}"]:
        try:
            async with connect(f"{url}/ws/{path}") as socket:
                # It may also hang up, with a last word or without.
                while True:
                    heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
                    assert heard["message_type"] == "ERROR", f"{path}: {heard}"
        except InvalidStatus as refusal:
            assert refusal.response.status_code in (401, 403, 404), f"{path}: {refusal}"
        except ConnectionClosed:
            pass


async def known_ids_need_their_token(url):
    async with Agent(url, "owner", [capability("sing")]) as owner:
        thief = Agent(url, "owner", [capability("steal")], token="unset")
        async with thief:
            refusal = await thief.register(token=None)
            assert refusal["message_type"] == "ERROR", refusal
            assert owner.token not in json.dumps(refusal), "the old token was given away"
            assert (await thief.register(token="wrong"))["message_type"] == "ERROR"
        # What the owner offers is as it was; with its token it may change it.
        async with Agent(url, "asker") as asker:
            assert await asker.discover(capability_name="steal") == {}
            assert await asker.discover(capability_name="sing") == {"owner": ["sing"]}
            owner.capabilities = [capability("hum")]
            again = await owner.register(token=owner.token)
            assert again["message_type"] == "REGISTER_ACK", again
            owner.token = again["payload"].get("auth_token") or owner.token
            assert await asker.discover(capability_name="sing") == {}, "REGISTER replaces"
            assert await asker.discover(capability_name="hum") == {"owner": ["hum"]}


async def comes_back(url):
    """With its token on a new connection; the old token still counts."""
    async with Agent(url, "owner", [capability("sing")]) as owner:
        token = owner.token
    async with Agent(url, "owner", [capability("sing")], token=token) as owner:
        again = await owner.register(token=token)
        assert again["message_type"] == "REGISTER_ACK", again
        assert again["payload"]["status"] == "success_registered_finalized", again
        owner.token = again["payload"].get("auth_token") or token
        async with Agent(url, "asker") as asker:
            conversation = await asker.request("owner", "sing")
            await owner.respond(await owner.hear("REQUEST"))
            await asker.response(conversation)


async def tokens(url):
    """Every message needs the token of its sender, and its sender is who it says."""
    async with Agent(url, "honest") as honest, Agent(url, "other", [capability("sing")]) as other:
        query = {"capability_name": "sing"}
        for token in [None, "wrong", "", other.token]:
            await honest.say("DISCOVER_SERVICES", LOBBY, query, "k", auth_token=token)
            payload = await honest.error()
            assert payload["error"].startswith("Authentication failed for message to lobby."), payload
            assert payload.get("original_message_type") in (None, "DISCOVER_SERVICES"), payload
            assert payload.get("original_conversation_id") in (None, "k"), payload
    async with Agent(url, "sly") as sly, Agent(url, "victim", [capability("sing")]) as victim:
        request = {"capability_name": "sing"}
        await sly.say("REQUEST", "victim", request, "k", auth_token=None)
        await sly.error(AUTHENTICATION)
        await sly.say("REQUEST", "victim", request, "k", sender_id="honest")
        await sly.write(message("honest", "victim", "REQUEST", request, "k", honest.token))
        for _ in range(2):
            heard = json.loads(await asyncio.wait_for(sly.socket.recv(), PATIENCE))
            assert heard["message_type"] == "ERROR", heard
        await victim.hears_nothing()
        await sly.hears_nothing()


async def locked_out(url):
    """Three wrong tokens lock an id, a missing one is no try, and others are not touched."""
    async with Agent(url, "forgetful") as forgetful, Agent(url, "attacked") as attacked:
        for agent, tokens, locked in [(forgetful, [None] * 5, False), (attacked, ["1", "2", "3"], True)]:
            for token in tokens:
                async with Agent(url, agent.id, token="unset") as guess:
                    assert (await guess.register(token=token))["message_type"] == "ERROR"
            async with Agent(url, agent.id, token="unset") as back:
                heard = await back.register(token=agent.token)
                assert heard["message_type"] == ("ERROR" if locked else "REGISTER_ACK"), heard
    async with Agent(url, "bystander") as bystander:
        await bystander.hears_nothing()


async def names(url):
    """The broker's own names cannot be taken, nor can what is not a name."""
    for name in [LOBBY, "lobby", "router", "switchboard", "", "a b", "line\nbreak", "x" * 129, 7, None]:
        async with connect(url + "/lobby") as socket:
            await socket.send(json.dumps(message(name, LOBBY, "REGISTER", {"capabilities": []})))
            heard = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
            assert heard["message_type"] == "ERROR", f"{name!r}: {heard}"
        status, heard = register_by_http(url, name)
        assert 400 <= status < 500, f"{name!r} by HTTP: {status} {heard}"
    for name in ["x" * 128, "Ünï-code.✓", "a/b?c=d"]:
        async with Agent(url, name) as agent:
            await agent.hears_nothing()


async def schemas(url):
    """A schema that is wrong, or that would make the broker look elsewhere, is refused."""
    bad = [{"type": "nonsense"}, {"$ref": "http://example.com/a.json"}, {"$ref": "file:///etc/passwd"},
           {"properties": {"a": {"$ref": "other.json#/a"}}}, {"$ref": "#/$defs/missing"}, 7]
    for schema in bad:
        for side in ["input_schema", "output_schema"]:
            offer = [capability("sing", **{side: schema})]
            async with Agent(url, "singer", offer, token="unset") as singer:
                heard = await singer.register()
                assert heard["message_type"] == "ERROR", f"{side} {schema}: {heard}"
            status, heard = register_by_http(url, "singer", offer)
            assert 400 <= status < 500, f"{side} {schema} by HTTP: {status} {heard}"
    good = {"$ref": "#/$defs/line", "$defs": {"line": {"type": "object"}}}
    async with Agent(url, "singer", [capability("sing", input_schema=good)]) as singer:
        await singer.hears_nothing()


async def updates(url):
    """CAPABILITY_UPDATE goes by name; UNREGISTER leaves."""
    offers = [capability("sing", keywords=["old"]), capability("hum")]
    async with Agent(url, "singer", offers) as singer, Agent(url, "asker") as asker:
        change = {"capabilities": [capability("sing", keywords=["new"]), capability("dance")]}
        await singer.say("CAPABILITY_UPDATE", LOBBY, change, "k")
        heard = await singer.hear()
        assert heard["message_type"] != "ERROR" and heard["sender_id"] == LOBBY, heard
        for name in ["sing", "hum", "dance"]:
            assert await asker.discover(capability_name=name) == {"singer": [name]}, name
        assert await asker.discover(query_keywords=["old"]) == {}, "its keywords were replaced"
        await singer.say("CAPABILITY_UPDATE", LOBBY, {"capabilities": [{"name": 7}]})
        await singer.error()
        await singer.say("UNREGISTER", LOBBY, {})
        await left(singer)
        assert await asker.discover(capability_name="sing") == {}
        assert await asker.fails("singer", "sing")


async def left(agent):
    """The lobby may confirm it, and may hang up."""
    try:
        heard = await asyncio.wait_for(agent.socket.recv(), 2)
        assert json.loads(heard)["message_type"] != "ERROR", heard
    except (ConnectionClosed, TimeoutError):
        pass
