"""Announcing and being found: every kind of key, both texts that are signed, time, and other versions."""
import base64
import json
import time
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from discovery.client import Agent, Registry, error, response
from discovery.keys import SCHEMES, Key, dumps, rfc8785


def announces(url, folder):
    """Announced, found, listed, and gone when it signs off."""
    registry = Registry(url, folder)
    assert registry.all() == {}
    anna, bert = Agent("metrics"), Agent("store")
    registry.accepts(anna)
    registry.finds(anna)
    registry.misses(bert)
    registry.accepts(bert)
    assert registry.all() == {anna.id: anna.agent, bert.id: bert.agent}
    assert registry.get(anna.id.upper()) in (anna.agent, None)
    assert registry.sign_off(anna.id).status in (200, 202, 204)
    registry.misses(anna)
    registry.finds(bert)
    answer = registry.sign_off(anna.id)
    assert answer.status in (200, 204) or (answer.status == 404 and error(answer)), answer
    registry.accepts(anna)
    registry.finds(anna)


def asks_by_http(url, folder):
    """Those who can do something, by HTTP: as a list, and by a Query like anywhere else."""
    registry, anna, bert = Registry(url, folder), Agent("metrics"), Agent("store")
    for agent in (anna, bert):
        registry.accepts(agent)
    answer = registry.ask("GET", "/agents?capability=store")
    assert answer.status == 200 and [response(it) for it in answer.body] == [bert.agent], answer
    assert registry.ask("GET", "/agents?capability=nothing").body == []
    for capability, found in [("metrics", [anna.agent]), ("nothing", [])]:
        answer = registry.ask("POST", "/agents", {"protocol_version": "v1.0", "query": {"capability": capability}})
        assert answer.status == 200, answer
        said = answer.body if isinstance(answer.body, list) else [answer.body]
        assert [it["agent"] for it in said if it["matched"]] == found, said


def again(url, folder):
    """The same announcement again is the same agent."""
    registry, anna = Registry(url, folder), Agent()
    said = anna.signed()
    for _ in range(3):
        registry.accepts(said)
    # A signature need not be the same each time to be over the same.
    registry.accepts(anna.signed())
    assert registry.all() == {anna.id: anna.agent}
    anna.agent["capabilities"] = {"metrics": "3.0", "more": ""}
    registry.accepts(anna)
    assert registry.all() == {anna.id: anna.agent}, "what is newer counts"


def least(url, folder):
    """Only what the protocol calls for; and what it allows beside."""
    registry = Registry(url, folder)
    agent = Agent(capabilities={})
    del agent.agent["agent_name"], agent.agent["metadata"]
    registry.accepts(agent)
    registry.finds(agent)
    stamped = Agent(later_field={"of": ["a", "later", "minor", "version"]})
    registry.accepts(stamped.signed() | {"timestamp": "2026-01-01T00:00:00Z", "hint": 1})
    registry.finds(stamped)


def signatures(url, folder):
    """Every kind of key and way to sign, over either text."""
    registry = Registry(url, folder)
    odd = {"__os": "línux ☃ 😀 \u2028 \x7f", "ö": 1.0, "\U0001f600": 1, "\ufb33": 2,
           "n": [1e16, 1e-7, 5e-324, 0.1, -0.0], "e": 1e21, "i": -7,
           "deep": {"b": None, "a": [True, {}]}, "": "\u0000\u001f\"\\/\b"}
    for kind in ("rsa", "p256", "p384", "ed25519"):
        key = Key(kind)
        for scheme in SCHEMES[kind]:
            for form in (rfc8785, dumps):
                agent = Agent(key=key, metadata=odd)
                answer = registry.announce(agent.signed(form, scheme))
                assert answer.status == 200, f"{kind} {scheme} {form.__name__}: {answer}"
    assert registry.get(agent.id)["metadata"] == odd
    # Integers of any size, as Python writes them.
    large = Agent(metadata={"n": 12345678901234567890123, "m": -(2**53) - 1})
    registry.accepts(large.signed(dumps))
    registry.finds(large)


def writings(url, folder):
    """How the document is written does not matter, only what it says."""
    registry, agent = Registry(url, folder), Agent(metadata={"ö": "ä", "n": 1.5})
    said = agent.signed()
    for text in (json.dumps(said, indent=3), json.dumps(said, ensure_ascii=False, sort_keys=True),
                 json.dumps(said).replace("1.5", "15e-1").replace("linux", "\\u006cinux")):
        registry.accepts(text)


def key_forms(url, folder):
    """PEM, the base64 alone as in the protocol's example, or a certificate."""
    registry = Registry(url, folder)
    for form in ("pem", "bare", "certificate"):
        for kind in ("rsa", "p256"):
            agent = Agent(key=Key(kind))
            agent.agent["public_key"] = getattr(agent.key, form)
            registry.accepts(agent)
            registry.finds(agent)


def forgeries(url, folder):
    """401: a signature that is not this key's over this document."""
    registry = Registry(url, folder)
    for kind in ("rsa", "p256", "ed25519"):
        agent, other = Agent(key=Key(kind)), Agent(key=Key(kind))
        good = agent.signed()
        registry.refuses(good | {"signature": other.key.sign(rfc8785(agent.agent))}, 401)
        registry.refuses(good | {"signature": agent.key.sign(rfc8785(agent.agent) + " ")}, 401)
        registry.refuses(good | {"signature": agent.key.sign(json.dumps(agent.agent))}, 401)
        registry.refuses(good | {"agent": agent.agent | {"capabilities": {"admin": "1"}}}, 401)
        registry.refuses(good | {"agent": agent.agent | {"public_key": other.key.pem}}, 401)
        flipped = good["signature"][:20] + ("A" if good["signature"][20] != "A" else "B") + good["signature"][21:]
        registry.refuses(good | {"signature": flipped}, 401)
        for text in ("", "AAAA", "not base64!", "ä" * 50, "A" * 20_000):
            registry.refuses(good | {"signature": text}, 400, 401)
        registry.misses(agent)
        registry.accepts(agent)


def weak_keys(url, folder):
    """Keys that are too small, and ways to sign that nobody agreed on."""
    registry = Registry(url, folder)
    small = Key("rsa")
    small.private = rsa.generate_private_key(65537, 1024)
    for key in (small, Key("p521"), Key("k256")):
        registry.refuses(Agent(key=key), 400, 401)
    # Nor is SHA-1 agreed on, whatever the key.
    for key, how in ((Key("rsa"), (padding.PKCS1v15(), hashes.SHA1())), (Key("p256"), (ec.ECDSA(hashes.SHA1()),))):
        agent = Agent(key=key)
        signature = key.private.sign(rfc8785(agent.agent).encode(), *how)
        registry.refuses(agent.unsigned() | {"signature": base64.b64encode(signature).decode()}, 401)
    for text in ("", "MIIBIjANBgkqh…", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", "AAAA",
                 Key().pem.replace("PUBLIC KEY", "PRIVATE KEY"), Key().pem[:-40], "\0", "x" * 30_000):
        agent = Agent(public_key=text)
        registry.refuses(agent, 400, 401)
        registry.misses(agent)


def expires(url, folder):
    """After the TTL without an announcement an agent is gone; who goes on announcing stays."""
    # The TTL is one second.
    registry, brief, steady = Registry(url, folder), Agent(), Agent()
    registry.accepts(brief)
    began = time.monotonic()
    while registry.get(brief.id):
        assert time.monotonic() - began < 5, "it does not go"
        registry.accepts(steady)
    assert time.monotonic() - began > 0.8, "it went too early"
    assert registry.all() == {steady.id: steady.agent}
    registry.accepts(brief)
    registry.finds(brief)


def replayed(url, folder):
    """A document that a newer one has replaced is worth nothing once it is older than the TTL."""
    # The TTL is one second.
    registry, agent, clock = Registry(url, folder), Agent(), Agent()
    agent.agent["capabilities"] = {"old": "1.0"}
    old = agent.signed()
    registry.accepts(old)
    agent.agent = agent.agent | {"capabilities": {"new": "1.0"}}
    new = agent.signed()
    registry.accepts(new)
    registry.accepts(clock)
    while registry.get(clock.id):  # when this is gone, the older one is older than the TTL
        registry.accepts(new)
    registry.refuses(old, 400, 401, 403, 409)
    registry.finds(agent)
    registry.accepts(new)
    # Nor is it worth more when the newer one has run out.
    registry.gone(agent)
    registry.refuses(old, 400, 401, 403, 409)
    registry.misses(agent)
    registry.accepts(new)


def versions(url, folder):
    """A later minor version is understood; another major one is answered with ours."""
    registry = Registry(url, folder)
    for version in ("v1.1", "v1.99"):
        agent = Agent()
        registry.accepts(agent.signed(version=version))
        registry.finds(agent)
    for version in ("v2.0", "v10.0", "v99999999999999999999.0", "v0.1"):
        agent = Agent()
        # What a later version holds may look quite different.
        later = agent.signed(version=version)
        later["agent"] = agent.agent | {"capabilities": {"metrics": {"version": "2.0"}}}
        for said in (agent.signed(version=version), later):
            answer = registry.announce(said)
            assert answer.status in (200, 400, 426, 501, 505), answer
            assert answer.body.get("protocol_version", "v1.0") == "v1.0" and "v1" in answer.text, answer
        registry.misses(agent)


def many(url, folder):
    """A hundred agents, each found by its id."""
    registry = Registry(url, folder)
    key = Key("ed25519")
    agents = [Agent(key=key, agent_name=f"agent-{n}") for n in range(100)]
    for agent in agents:
        registry.accepts(agent)
    assert registry.all() == {agent.id: agent.agent for agent in agents}
    assert registry.get(str(uuid.uuid4())) is None
