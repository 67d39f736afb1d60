"""What is no announcement, field by field; and what is meant to hurt."""
import json
import uuid

from discovery.client import Agent, Registry, error, refused

WRONG = {  # of the agent, each field: what it cannot be
    "agent_id": [None, 7, "", "data-processor", "3cde1b52", [], {}, "{3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d}",
                 "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1g", "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d "],
    "agent_name": [7, "", "has space", "-begins", "ends-", "x" * 64, "a.b", "ünï", [], {}, True, "a\n"],
    "capabilities": [None, [], "metrics", 7, {"metrics": 2}, {"metrics": None}, {"metrics": {}}, {"metrics": ["1"]}],
    "public_key": [7, [], {}, True],
    "transport": [None, "tcp", [], {}, {"type": "tcp"}, {"endpoint": "10.0.0.12:9000"}, 7,
                  {"type": 7, "endpoint": "x:1"}, {"type": "tcp", "endpoint": 9000}, {"type": "tcp", "endpoint": None}],
    "metadata": [[], "linux", 7, True],
}


def schema(url, folder):
    """400, and the reason names the field; so it is judged before the signature, which is no good here either."""
    registry = Registry(url, folder)
    for field, values in WRONG.items():
        for value in values:
            for sign in (True, False):
                agent = Agent(**{field: value}) if field != "agent_id" else Agent()
                agent.agent[field] = value
                said = agent.signed() | ({} if sign else {"signature": "AAAA"})
                message = registry.refuses(said, 400)
                assert field in message, f"{field} = {value}: {message}"
    for field in ("agent_id", "capabilities", "transport"):
        agent = Agent()
        del agent.agent[field]
        assert field in registry.refuses(agent, 400), field
    for version in (None, 1, 1.0, "", "1.0", "v1", "v1.0.0", "vx.y", "V1.0", " v1.0", "v1.0\n", "v-1.0", [], {}):
        message = registry.refuses(Agent().unsigned() | {"protocol_version": version, "signature": "AAAA"}, 400)
        assert "protocol_version" in message, f"{version!r}: {message}"
    said = Agent().signed()
    for field in ("protocol_version", "agent"):
        assert field in registry.refuses({name: it for name, it in said.items() if name != field}, 400)
    for wrong in (None, [], "agent", 7, {}):
        registry.refuses(said | {"agent": wrong}, 400)
    for wrong in (7, [], {}, True):
        assert "signature" in registry.refuses(said | {"signature": wrong}, 400)
        assert "rotation_signature" in registry.refuses(said | {"rotation_signature": wrong}, 400)
    assert registry.all() == {}


def no_key(url, folder):
    """Who signs says with which key."""
    registry = Registry(url, folder)
    agent = Agent()
    del agent.agent["public_key"]
    registry.refuses(agent, 400, 401)
    registry.refuses(Agent(public_key=None), 400, 401)
    registry.misses(agent)


def doubled(url, folder):
    """400: the same key twice, anywhere; for one reader would see the one, and one the other."""
    registry = Registry(url, folder)
    agent = Agent(metadata={"a": {"b": [{"c": 1}]}})
    text = json.dumps(agent.signed())
    registry.accepts(text)
    for once, twice in [
        ('{"protocol_version"', '{"agent": {}, "protocol_version"'),
        ('"agent_id": ', f'"agent_id": "{uuid.uuid4()}", "agent_id": '),
        ('"c": 1', '"c": 1, "c": 1'),
        ('"c": 1', '"c": 1, "\\u0063": 2'),
        ('"metrics": "2.0"', '"metrics": "1.0", "metrics": "2.0"'),
        ('"type": "tcp"', '"type": "tcp", "type": "tcp"'),
        ('"signature": ', '"signature": "AAAA", "signature": '),
    ]:
        assert once in text, once
        registry.refuses(text.replace(once, twice, 1), 400)
    assert registry.all() == {agent.id: agent.agent}


def malformed(url, folder):
    """400: what is no JSON, and JSON that is no message."""
    registry, agent = Registry(url, folder), Agent()
    good = json.dumps(agent.signed())
    for text in ("", "{", good[:-1], good + "}", good.replace('"', "'"), b"\xff\xfe", good.encode() + b"\0", "NaN",
                 good.replace("linux", "\\ud800"), good.encode().replace(b"linux", b"l\xffnux"), "[]", "7", "null",
                 '"text"', "{}", f"[{good}]"):
        # What has half a surrogate pair in it cannot be signed, either.
        registry.refuses(text, 400, *([401] if "ud800" in str(text) else []))
    registry.misses(agent)


def hostile(url, folder):
    """Deep, wide and large: answered in order, and the registry stands."""
    registry = Registry(url, folder)
    text = json.dumps(Agent(metadata={"x": 0}).signed())
    for depth in (200, 5_000, 20_000):
        deep = text.replace('"x": 0', '"x": ' + "[" * depth + "]" * depth)
        refused(registry.announce(deep), 400, 401, 413)
        refused(registry.announce("[" * depth), 400, 413)
    for size in (1_100_000, 5_000_000):
        answer = registry.announce(Agent(metadata={"x": "x" * size}))
        assert answer.status == 413 and error(answer), answer.status
    wide = Agent(capabilities={f"can-{n}": "1" for n in range(5_000)})
    answer = registry.announce(wide)
    assert answer.status in (200, 400, 413), answer
    for agent_id in ("%00", "%ff", "x" * 4_000, "..%2f..", "a%20b", "%F0%9F%98%80"):
        for method in ("GET", "DELETE"):
            answer = registry.ask(method, f"/agents/{agent_id}")
            assert answer.status in (400, 404, 414), f"{agent_id[:40]}: {answer}"
    markup = Agent(metadata={"x": "<script>alert(1)</script>"}, agent_name="a1")
    registry.accepts(markup)
    registry.finds(markup)


def methods(url, folder):
    registry = Registry(url, folder)
    for method, path in [("PUT", "/agents"), ("DELETE", "/agents"), ("POST", f"/agents/{uuid.uuid4()}")]:
        answer = registry.ask(method, path, {} if method != "DELETE" else None)
        assert answer.status == 405 and answer.headers["Allow"], f"{method} {path}: {answer}"


def web_pages(url, folder):
    """A page of another origin reaches nothing, whatever its token."""
    registry, agent = Registry(url, folder), Agent()
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"}):
        for method, body in (("GET", None), ("POST", agent.signed())):
            assert registry.ask(method, "/agents", body, **headers).status == 403, headers
    registry.misses(agent)
