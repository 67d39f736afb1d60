"""Who may not, what is no message, too many of them, and what is meant to hurt."""
import json
import time
from concurrent.futures import ThreadPoolExecutor

from client import BASE, Agent, ask, bub, checked, mailbox, new_id, refused

ENDPOINTS = [("GET", f"{BASE}/version"), ("GET", f"{BASE}/spec"), ("POST", f"{BASE}/messages")]


def unauthorized(url, folder):
    """All endpoints require valid authentication."""
    agent = Agent.issued(url, folder)
    calls = ENDPOINTS + [("GET", mailbox(agent.id)), ("GET", mailbox(agent.id, wait=5)), ("GET", mailbox("nobody"))]
    calls += [("POST", f"{BASE}/messages/{new_id()}/status")]
    wrong = [None, "Bearer", "Bearer ", "Basic abc", agent.token, f"Token {agent.token}", "Bearer \xff"]
    for method, path in calls:
        body = agent.message(agent.id) if method == "POST" else None
        for value in wrong:
            headers = {} if value is None else {"Authorization": value}
            answer = ask(url, method, path, body, **headers)
            refused(answer, 401)
            assert answer.headers["WWW-Authenticate"], f"{path}: how, then?"
        refused(ask(url, method, path + "?token=" + agent.token, body), 401)
    assert agent.page() == ([], 0)


def wrong_tokens(url, folder):
    """A token that is almost right is none, and a revoked one is none any more."""
    agent, other = Agent.issued(url, folder), Agent.issued(url, folder)
    for token in (agent.token[:-1], agent.token + "x"):
        refused(ask(url, "GET", f"{BASE}/version", token=token), 401)
    other.send(agent.id)
    assert agent.page()[1] == 1
    bub(folder, "token", "revoke", agent.id)
    for method, path in ENDPOINTS + [("GET", mailbox(agent.id))]:
        refused(agent.ask(method, path, agent.message(other.id) if method == "POST" else None), 401)
    assert other.page() == ([], 0)
    fresh = Agent.issued(url, folder, agent.id)
    assert fresh.page()[1] == 1, "a new token is the same agent's"


def revoked_while_waiting(url, folder):
    """Whose token is taken away while it waits for a message does not get it."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(bert.ask, "GET", mailbox(bert.id, wait=3))
        assert ask(url, "GET", "/healthz").status == 200
        bub(folder, "token", "revoke", bert.id)
        answer = anna.post(anna.message(bert.id, {"action": "sing", "input": {"secret": "swordfish"}}))
        assert answer.status in (201, 403, 404), answer
        heard = waiting.result()
        assert "swordfish" not in heard.text, heard


def web_pages(url, folder):
    """A page of another origin, or a name that only points here, reaches nothing, whatever its token."""
    agent = Agent.issued(url, folder)
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"},
                    {"Origin": "http://127.0.0.1:1"}):
        for method, path in ENDPOINTS + [("GET", mailbox(agent.id)), ("GET", f"{BASE}/openapi.json")]:
            body = agent.message(agent.id) if method == "POST" else None
            answer = ask(url, method, path, body, agent.token, **headers)
            assert answer.status == 403, f"{headers} {path}: {answer}"


def unknown(url, folder):
    """404: nobody of that name, and nothing at that address."""
    agent = Agent.issued(url, folder)
    for receiver in ("nobody", new_id(), "x" * 128):
        detail = refused(agent.post(agent.message(receiver)), 404)
        assert receiver in detail, detail
    for path in ("/", "/message", "/messages/a/b/c", "/versions"):
        answer = agent.ask("GET", BASE + path)
        assert answer.status == 404, f"{path}: {answer}"


def methods(url, folder):
    """405, and which there are."""
    agent = Agent.issued(url, folder)
    for method, path in [("POST", "/version"), ("DELETE", "/spec"), ("GET", "/messages"), ("PUT", "/messages"),
                         ("DELETE", f"/messages/{agent.id}"), ("GET", f"/messages/{new_id()}/status")]:
        answer = agent.ask(method, BASE + path, {} if method in ("POST", "PUT") else None)
        assert answer.status == 405 and answer.headers["Allow"], f"{method} {path}: {answer}"


def malformed(url, folder):
    """400: what is no JSON."""
    agent = Agent.issued(url, folder)
    good = json.dumps(agent.message(agent.id))
    for text in ["", " ", "{", good[:-1], good + "}", good.replace('"', "'"), "{,}", b"\xff\xfe", "NaN",
                 good.encode() + b"\x00", good.encode().replace(b"sing", b"s\xffng"), good.encode("utf-16"),
                 good.replace("sing", "s\ning"), good.replace("{}", "NaN"), good.replace("{}", "01"),
                 good.replace("sing", "\\ud800"), good.replace("sing", "\\x41")]:
        answer = agent.post(text)
        # Half a surrogate pair has no meaning, though its text is JSON; so it may also be a wrong value.
        refused(answer, 400, *([422] if isinstance(text, str) and "ud800" in text else []))
    assert agent.page() == ([], 0)


def wrong_shapes(url, folder):
    """422, and the reason names the field."""
    agent = Agent.issued(url, folder)
    base = agent.message(agent.id)
    wrong = {
        "sender_agent_id": [7, [], {}, True, "", None, "x" * 129],
        "receiver_agent_id": [7, 1.5, [], {}, True, "", None],
        "message_type": ["", "REQUEST", "query", 7, [], {}, True],
        "content": [None, "text", 7, [], [{"action": "sing"}], True, {"action": 7}, {"action": None, "input": {}},
                    {"action": ["sing"]}],
        "correlation_id": [7, [], {}, True],
    }
    for field, values in wrong.items():
        for value in values:
            statuses = (422, 403) if (field, value) == ("sender_agent_id", "x" * 129) else (422,)
            detail = refused(agent.post(base | {field: value}), *statuses)
            assert field in detail or "action" in detail or statuses[1:], f"{field} = {value}: {detail}"
    for field in ("sender_agent_id", "receiver_agent_id", "content"):
        body = dict(base)
        del body[field]
        detail = refused(agent.post(body), 422)
        assert field in detail, f"without {field}: {detail}"
    refused(agent.post(base | {"content": {}}), 422)
    refused(agent.post(base | {"content": {"input": {}}}), 422)
    for body in ("[]", "7", '"text"', "null", "true", json.dumps([base])):
        refused(agent.post(body), 422)
    refused(agent.post(base | {"receiver_agent_id": "x" * 129}), 404, 422)
    refused(agent.post(base | {"receiver_agent_id": "a b\n"}), 404, 422)
    assert agent.page() == ([], 0)


def content_types(url, folder):
    """A body that says it is something else than JSON is refused or read, but never misread."""
    agent = Agent.issued(url, folder)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x" * 500):
        answer = agent.ask("POST", f"{BASE}/messages", agent.message(agent.id), Content_Type=kind)
        assert answer.status in (201, 400, 415, 422), f"{kind}: {answer}"
    for kind in ("application/json; charset=utf-8", "APPLICATION/JSON"):
        answer = agent.ask("POST", f"{BASE}/messages", agent.message(agent.id), Content_Type=kind)
        assert answer.status == 201, f"{kind}: {answer}"


def flooding(url, folder):
    """429 and when to come again; the rate is each agent's own."""
    # The broker lets an agent say 5 things at once, and 2 a second.
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    answers = [anna.post(anna.message(bert.id)) for _ in range(12)]
    accepted = [answer for answer in answers if answer.status == 201]
    flooded = [answer for answer in answers if answer.status != 201]
    assert 5 <= len(accepted) <= 10 and flooded, [answer.status for answer in answers]
    for answer in flooded:
        refused(answer, 429)
        assert 1 <= int(answer.headers["Retry-After"]) <= 5, answer.headers.items()
    bert.send(anna.id)  # another agent has a rate of its own
    assert bert.page(limit=100)[1] == len(accepted), "what was refused is nowhere"
    time.sleep(int(flooded[-1].headers["Retry-After"]))  # as it was told to
    anna.send(bert.id)


def flooding_does_not_drown(url, folder):
    """Who may not send for a while can still read, answer for what it has, and ask for the version."""
    # The broker lets an agent say 5 things at once, and 2 a second.
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    for _ in range(12):
        answer = anna.post(anna.message(bert.id))
    refused(answer, 429)
    refused(anna.post(anna.message(anna.id, kind="notification")), 429)
    assert bert.read(), "the receiver is not to blame"
    assert anna.ask("GET", mailbox(anna.id)).status in (200, 429)


def hostile(url, folder):
    """Deep, doubled, endless: answered in order, and the broker stands."""
    anna, bert, deep_one = (Agent.issued(url, folder) for _ in range(3))
    body = json.dumps(anna.message(deep_one.id, {"action": "sing", "input": {"x": 0}}))
    for depth in (50, 100, 5_000, 200_000):
        deep = "[" * depth + "]" * depth
        answer = anna.post(body.replace('"x": 0', f'"x": {deep}'))
        assert answer.status in (201, 400, 413, 422), f"{depth}: {answer.status}"
        assert depth > 50 or answer.status == 201, f"{depth} is not deep"
        if answer.status == 201:
            assert deep in deep_one.ask("GET", mailbox(deep_one.id, limit=1)).text
        refused(anna.post("[" * depth), 400)
        refused(anna.post("[" * depth + "]" * depth), 400, 422)
    # Two of the same name: whichever counts, it is not one for the check and the other for the deed.
    body, before = body.replace(deep_one.id, bert.id), bert.page()[1]
    for first, second in [(bert.id, anna.id), (anna.id, bert.id)]:
        doubled = body.replace('{"sender_agent_id"', f'{{"sender_agent_id": "{first}", "sender_agent_id"', 1)
        doubled = doubled.replace(f'"{anna.id}", "receiver', f'"{second}", "receiver', 1)
        answer = anna.post(doubled)
        assert answer.status in (400, 403, 422) or checked(answer.body)["sender_agent_id"] == anna.id, answer
    assert all(it["sender_agent_id"] == anna.id for it in bert.read())
    assert bert.page()[1] - before <= 2
    for text in ("\u0000", "\u202e", "x" * 100_000, "<script>alert(1)</script>", "'; drop table message; --"):
        for change in ({"correlation_id": text}, {"content": {"action": text, "input": {}}}):
            answer = anna.post(anna.message(bert.id) | change)
            assert answer.status in (201, 413, 422), f"{change}: {answer}"
            if answer.status == 201:
                assert change.items() <= bert.read(limit=1)[0].items(), f"{text[:40]} changed"
        refused(anna.post(anna.message(bert.id) | {"receiver_agent_id": text}), 404, 422)
    many = {f"key {n}": n for n in range(50_000)}
    assert anna.send(bert.id, {"action": "sing", "input": many})["content"]["input"] == many
    assert bert.read(limit=1)[0]["content"]["input"] == many


def odd_addresses(url, folder):
    """Paths that are no names, and headers without end."""
    agent = Agent.issued(url, folder)
    for name in ("%00", "%ff", "%2e%2e", "..%2f..", "x" * 4_000, "%F0%9F%98%80", "%0d%0aX: y"):
        answer = agent.ask("GET", f"{BASE}/messages/{name.replace(' ', '%20')}")
        assert answer.status in (400, 403, 404, 414, 422), f"{name[:40]}: {answer}"
    answer = agent.ask("GET", f"{BASE}/version", X_Long="x" * 200_000)
    assert answer.status in (200, 400, 413, 431), answer
    assert agent.ask("GET", f"{BASE}/version").status == 200
