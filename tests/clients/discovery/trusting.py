"""Who is believed: the operator's word, the allow-list, and keys that may not change unnoticed."""
import base64
import json
import uuid

from aacp.client import Broker, ask
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from discovery.client import QUERY, RESPONSE, Agent, Registry, refused
from discovery.keys import Key, rfc8785

LISTED = "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d"
LISTED_TOO = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"


def waits(url, folder):
    """202: the first key seen waits for the operator, and nobody finds it before."""
    registry, agent, other = Registry(url, folder), Agent(), Agent()
    with registry.socket() as watcher:
        for _ in range(2):
            answer = registry.announce(agent)
            assert answer.status == 202, answer
        registry.misses(agent)
        assert watcher.query("metrics", 0) == []
        assert registry.announce(other).status == 202
        registry.operator("admit", agent.id)
        registry.finds(agent)
        registry.misses(other)
        registry.accepts(agent)
        assert watcher.query("metrics") == [agent.agent]
        heard = [it["agent_id"] for it in watcher.announced]
        assert heard and set(heard) == {agent.id}, "nobody hears of one that was not admitted"


def refuses(url, folder):
    """Whom the operator refuses stays out."""
    registry, agent = Registry(url, folder), Agent()
    assert registry.announce(agent).status == 202
    registry.operator("refuse", agent.id)
    registry.misses(agent)
    registry.refuses(agent, 403)
    registry.misses(agent)
    # The operator may think again.
    registry.operator("admit", agent.id)
    registry.accepts(agent)
    registry.finds(agent)
    registry.operator("refuse", agent.id)
    registry.misses(agent)
    registry.refuses(agent, 403)


def keeps_waiting(url, folder):
    """Another key for an id that waits does not slip in behind it."""
    registry, agent = Registry(url, folder), Agent()
    thief = Agent(agent_id=agent.id)
    assert registry.announce(agent).status == 202
    answer = registry.announce(thief)
    assert answer.status in (202, 403, 409), answer
    registry.operator("admit", agent.id)
    found = registry.get(agent.id)
    if answer.status != 202:
        assert found == agent.agent, found
    registry.accepts(agent)
    registry.finds(agent)
    registry.refuses(thief, 409)
    registry.finds(agent)


def operator_sees(url, folder):
    """The operator sees who waits and who is there."""
    registry, agent = Registry(url, folder), Agent(agent_name="worker-1")
    assert registry.announce(agent).status == 202
    assert agent.id in registry.operator("announced", "--json")
    registry.operator("admit", agent.id)
    rows = {row["id"]: row for row in json.loads(registry.operator("--json"))}
    row = rows[agent.id]
    assert row["name"] == "worker-1" and "discovery" in row["doors"], row
    assert "metrics" in json.dumps(row["capabilities"]), row


def unsigned(url, folder):
    """A first announcement without a signature is refused, and so is a later one."""
    registry, agent = Registry(url, folder), Agent()
    registry.refuses(agent.unsigned(), 400, 401, 403)
    registry.refuses(agent.unsigned("v1.1"), 400, 401, 403)
    registry.misses(agent)
    registry.accepts(agent)
    for said in (agent.unsigned(), agent.unsigned("v1.1"), agent.signed() | {"signature": None}):
        registry.refuses(said, 400, 401, 403, 409)
    agent.agent = {name: it for name, it in agent.agent.items() if name != "public_key"}
    registry.refuses(agent.unsigned(), 400, 401, 403, 409)
    assert registry.get(agent.id)["public_key"], "the signed one still counts"


def new_key(url, folder):
    """409: another key for a known id; the agent is who it was."""
    registry, agent = Registry(url, folder), Agent()
    registry.accepts(agent)
    for kind in ("p256", "rsa", "ed25519"):
        thief = Agent("admin", agent_id=agent.id, key=Key(kind))
        registry.refuses(thief, 409)
    registry.refuses(Agent(agent_id=agent.id.upper()), 400, 409)
    registry.finds(agent)
    # Signing off does not give the name away.
    assert registry.sign_off(agent.id).status in (200, 202, 204)
    registry.refuses(thief, 409)
    registry.misses(agent)
    registry.accepts(agent)


def rotation(url, folder):
    """A new key that the old one vouches for is the same agent."""
    registry = Registry(url, folder)
    for before, after in [("p256", "p256"), ("rsa", "ed25519"), ("ed25519", "p384")]:
        agent = Agent(key=Key(before))
        registry.accepts(agent)
        first = Agent(agent_id=agent.id, key=agent.key)
        registry.accepts(agent.rotated(Key(after)))
        registry.finds(agent)
        registry.accepts(agent)
        registry.refuses(Agent(agent_id=agent.id), 409)
        # Until it has retired the old key may still speak, or not; it does not take the name back for good.
        registry.announce(first)
        registry.accepts(agent)
        registry.finds(agent)


def false_rotation(url, folder):
    """Vouched for by somebody else, by itself, or for another document: another key, and no more."""
    registry, agent = Registry(url, folder), Agent()
    registry.accepts(agent)
    thief = Agent("admin", agent_id=agent.id)
    document = rfc8785(thief.agent)
    for signature in (thief.key.sign(document), Key().sign(document), agent.key.sign(rfc8785(agent.agent)), "", "AAAA",
                      agent.signed()["signature"], "not base64!"):
        registry.refuses(thief.signed() | {"rotation_signature": signature}, 409, 400, 401)
    # Vouched for, but not signed by the new key: nobody has shown that it has it.
    vouched = agent.key.sign(document)
    registry.refuses(thief.unsigned() | {"rotation_signature": vouched}, 400, 401, 403, 409)
    registry.refuses(thief.unsigned() | {"signature": vouched, "rotation_signature": vouched}, 401)
    registry.finds(agent)


def allow_list(url, folder):
    """Whoever is on the list is admitted at once, all others get 403."""
    # The list names LISTED and LISTED_TOO.
    registry = Registry(url, folder)
    listed, stranger = Agent(agent_id=LISTED), Agent()
    registry.accepts(listed)
    registry.finds(listed)
    registry.refuses(stranger, 403)
    registry.refuses(stranger.unsigned(), 403)
    registry.misses(stranger)
    # The list names ids, not keys: another key is still another key, and nonsense is nonsense.
    registry.refuses(Agent(agent_id=LISTED), 409)
    registry.refuses(listed.signed() | {"signature": "AAAA"}, 401)
    registry.refuses(stranger.signed() | {"agent": stranger.agent | {"transport": 7}}, 400)


def listed_unsigned(url, folder):
    """Whoever is on the list need not sign, until it has."""
    # The list names LISTED and LISTED_TOO.
    registry = Registry(url, folder)
    plain, signs = Agent(agent_id=LISTED), Agent(agent_id=LISTED_TOO)
    registry.accepts(plain.unsigned())
    registry.finds(plain)
    plain.agent = plain.agent | {"capabilities": {"store": "1.0"}}
    registry.accepts(plain.unsigned("v1.1"))
    registry.finds(plain)
    registry.accepts(signs)
    registry.refuses(signs.unsigned(), 400, 401, 403, 409)
    registry.finds(signs)
    registry.accepts(plain)
    registry.refuses(plain.unsigned(), 400, 401, 403, 409)


def broker_names(url, folder):
    """The names of the broker are nobody's, nor are the UUIDs that stand for them."""
    registry = Registry(url, folder)
    for name in ("switchboard", "router", "lobby", "global_lobby"):
        alias = str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:switchboard:agent:{name}"))
        refused(registry.announce(Agent(agent_id=alias)), 400, 403, 409)


def broker_document(url, folder):
    """The broker announces itself the same way: its document needs no token, and its signature is its key's."""
    registry = Registry(url, folder)
    with registry.socket() as socket:
        socket.say(QUERY, {"protocol_version": "v1.0", "query": {"capability": "message-broker"}})
        broker = socket.hear(RESPONSE)["agent"]["agent_id"]
    answer = ask(url, "GET", f"/agents/{broker}")
    assert answer.status == 200, answer
    said = answer.body
    key = serialization.load_pem_public_key(said["agent"]["public_key"].encode())
    assert isinstance(key, ec.EllipticCurvePublicKey), key
    key.verify(base64.b64decode(said["signature"]), rfc8785(said["agent"]).encode(), ec.ECDSA(hashes.SHA256()))
    assert said["agent"]["transport"]["endpoint"].endswith(url.removeprefix("ws://")), said
    for method in ("DELETE", "POST"):
        answer = ask(url, method, f"/agents/{broker}")
        assert answer.status in (401, 403, 405), answer
    registry.refuses(Agent(agent_id=broker), 403, 409)


def remembers(url, folder):
    """Whose a name is survives `kill -9`; who was there announces itself again and is believed."""
    del url, folder
    with Broker(discovery='admit = "auto"\nttl_ms = 60000\n') as broker:
        registry = Registry(broker.url, broker.folder)
        agent, rotated = Agent(), Agent()
        registry.accepts(agent)
        first = Agent(agent_id=rotated.id, key=rotated.key)
        registry.accepts(rotated)
        registry.accepts(rotated.rotated(Key()))

        broker.crash()
        registry.url = broker.url
        registry.refuses(Agent(agent_id=agent.id), 409)
        registry.refuses(Agent(agent_id=rotated.id), 409)
        registry.refuses(agent.unsigned(), 400, 401, 403, 409)
        registry.announce(first)
        for known in (agent, rotated):
            registry.accepts(known)
            registry.finds(known)


def remembers_the_operator(url, folder):
    """What the operator said survives `kill -9`."""
    del url, folder
    with Broker() as broker:
        registry = Registry(broker.url, broker.folder)
        welcome, banned, waiting = Agent(), Agent(), Agent()
        for agent in (welcome, banned, waiting):
            assert registry.announce(agent).status == 202
        registry.operator("admit", welcome.id)
        registry.operator("refuse", banned.id)
        broker.crash()
        registry.url = broker.url
        registry.accepts(welcome)
        registry.finds(welcome)
        registry.refuses(banned, 403)
        assert registry.announce(waiting).status == 202
        registry.refuses(Agent(agent_id=welcome.id), 409)
