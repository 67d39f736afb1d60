"""`/ws`: announcing, asking, and hearing of others as they come."""
import json

from discovery.client import ANNOUNCE, PATIENCE, QUERY, RESPONSE, Agent, Registry, Socket, jwt
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


def streams(url, folder):
    """Every connection hears of every announcement as it is accepted, whichever way it came."""
    registry, anna, bert = Registry(url, folder), Agent("metrics"), Agent("store")
    with registry.socket() as one, registry.socket() as other:
        one.announce(anna)
        registry.accepts(bert)
        for socket in (one, other):
            socket.passes_over = RESPONSE  # what an announcer is told of its own besides
            heard = {it["agent"]["agent_id"]: it for it in (socket.hear(ANNOUNCE), socket.hear(ANNOUNCE))}
            assert heard[anna.id]["agent"] == anna.agent and heard[bert.id]["agent"] == bert.agent, heard
            assert all(it["protocol_version"] == "v1.0" and it["signature"] for it in heard.values()), heard
    registry.finds(anna)


def queries(url, folder):
    """Each match is a frame; no match is one that says so."""
    registry = Registry(url, folder)
    agents = sorted((Agent("metrics", metadata={"n": n}) for n in range(3)), key=lambda agent: agent.id)
    store = Agent("store")
    for agent in [*agents, store]:
        registry.accepts(agent)
    with registry.socket() as socket:
        assert socket.query("metrics", 3) == [agent.agent for agent in agents]
        assert socket.query("store") == [store.agent]
        assert socket.query("metrics", agent_id=agents[1].id) == [agents[1].agent]
        for capability, more in [("nothing", {}), ("metric", {}), ("", {}), ("store", {"agent_id": agents[0].id}),
                                 ("METRICS", {}), ("2.0", {}), ("*", {})]:
            assert socket.query(capability, 0, **more) == [], capability
        # One answer after the other, to one question after the other.
        for capability in ("store", "nothing", "store"):
            socket.say(QUERY, {"protocol_version": "v1.1", "query": {"capability": capability}})
        assert [socket.hear(RESPONSE)["matched"] for _ in range(3)] == [True, False, True]


def wrong_frames(url, folder):
    """What is no message is told so or ends the connection; it stands nobody else in the way."""
    registry, agent, behind = Registry(url, folder), Agent("metrics"), Agent("behind")
    registry.accepts(agent)
    registry.accepts(behind)
    query = json.dumps({"protocol_version": "v1.0", "query": {"capability": "metrics"}}).encode()
    wrong = [b"", b"\x00", b"\x02", b"\x02{", b"\x02[]", b"\x02null", b"\x02{}", b"\x02\xff\xfe", b"\x00" + query,
             b"\x04" + query, b"\xff" + query, query, b"\x03" + query, b"\x01" + query, b"\x01{}",
             b'\x02{"protocol_version": "v1.0", "query": {}}', b'\x02{"protocol_version": "v1.0", "query": "metrics"}',
             b'\x02{"protocol_version": "v1.0", "query": {"capability": 7}}',
             b'\x02{"query": {"capability": "metrics"}}',
             b'\x02{"protocol_version": "v1.0", "query": {"capability": "metrics", "agent_id": 7}}',
             b'\x02{"protocol_version": "1", "query": {"capability": "metrics"}}',
             b'\x02{"protocol_version": "v1.0", "query": {"capability": "metrics", "capability": "metrics"}}',
             b"\x02" + b"[" * 5_000, "text", "\x02" + query.decode(),
             b"\x02" + b" " * 2_000_000]
    for frame in wrong:
        with registry.socket() as socket:
            heard = after(socket, frame, behind)
            assert agent.id not in heard, f"{frame[:80]} was answered: {heard}"
    assert registry.get(agent.id) == agent.agent


def after(socket, frame, behind):
    """What is heard after this frame, until the answer to a question behind it, or the end."""
    heard = ""
    try:
        socket.socket.send(frame)
        socket.say(QUERY, {"protocol_version": "v1.0", "query": {"capability": "behind"}})
        while behind.id not in heard:
            said = socket.socket.recv(timeout=PATIENCE)
            heard += said if isinstance(said, str) else said.decode(errors="replace")
    except ConnectionClosed as end:
        assert end.rcvd and end.rcvd.code in (1002, 1003, 1007, 1008, 1009), f"hung up without a word: {end}"
    return heard


def socket_forgeries(url, folder):
    """A signature that is none is no announcement here either, and a key that changes is not, either."""
    registry, agent = Registry(url, folder), Agent("metrics")
    registry.accepts(agent)
    with registry.socket() as watcher:
        for said in (Agent().signed() | {"signature": "AAAA"}, Agent().unsigned(), Agent("admin", agent_id=agent.id)):
            with registry.socket() as socket:
                socket.announce(said)
                try:
                    socket.query("nothing", 0)
                except (ConnectionClosed, AssertionError, KeyError):
                    pass  # it was told, or sent away
        assert registry.all() == {agent.id: agent.agent}
        good = Agent()
        registry.accepts(good)
        assert watcher.hear(ANNOUNCE)["agent"] == good.agent, "what was refused was announced to nobody"


def socket_scopes(url, folder):
    """Looking and announcing are two rights here as well."""
    registry, agent = Registry(url, folder), Agent("metrics")
    with registry.socket(jwt(folder, "read")) as reads:
        reads.announce(agent)
        try:
            reads.query("metrics", 0)
        except (ConnectionClosed, AssertionError, KeyError):
            pass
    registry.misses(agent)
    writing = jwt(folder, "write")
    with registry.socket(writing) as writes, registry.socket() as watcher:
        writes.announce(agent)
        assert watcher.hear(ANNOUNCE)["agent"] == agent.agent
    with registry.socket(writing) as writes:
        writes.say(QUERY, {"protocol_version": "v1.0", "query": {"capability": "metrics"}})
        try:
            heard = writes.socket.recv(timeout=PATIENCE)
        except ConnectionClosed:
            return
        assert agent.id.encode() not in heard, f"a token that may only write read {heard}"


def turned_away(url, folder):
    """401 without a token, 403 for a web page, and no conversation without the subprotocol."""
    token = {"Authorization": f"Bearer {jwt(folder, 'read', 'write')}"}
    subprotocols = ["agent-discovery"]
    for headers, origin, protocols, statuses in [
        ({}, None, subprotocols, [401]), ({"Authorization": "Bearer x.y.z"}, None, subprotocols, [401]),
        (token, "http://evil.example", subprotocols, [403]), (token, None, None, [400, 426]),
        (token, None, ["another"], [400, 426]),
    ]:
        try:
            connect(url + "/ws", additional_headers=headers, origin=origin, subprotocols=protocols).close()
            raise AssertionError(f"let in: {headers} {origin} {protocols}")
        except InvalidStatus as refusal:
            assert refusal.response.status_code in statuses, f"{refusal} for {headers} {origin} {protocols}"
    Socket(url, token["Authorization"].removeprefix("Bearer ")).socket.close()


def other_versions(url, folder):
    """Another major version is answered with ours."""
    registry, agent = Registry(url, folder), Agent("metrics")
    registry.accepts(agent)
    with registry.socket() as socket:
        socket.say(QUERY, {"protocol_version": "v2.0", "query": {"capability": {"name": "metrics"}}})
        frame = socket.socket.recv(timeout=PATIENCE)
        assert "v1." in frame[1:].decode(), frame
        assert socket.query("metrics") == [agent.agent], "and the conversation goes on"
