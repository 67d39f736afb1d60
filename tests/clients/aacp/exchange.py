"""What is said and how: the endpoints, the fields of a message, names, and content that must not change."""
import json
import urllib.parse
import uuid

from client import BASE, Agent, alias, ask, checked, mailbox, new_id, refused


def version(url, folder):
    agent = Agent.issued(url, folder)
    answer = agent.ask("GET", f"{BASE}/version")
    assert answer.status == 200 and answer.body == {"protocol": "AACP", "version": "1.0"}, answer


def spec(url, folder):
    agent = Agent.issued(url, folder)
    answer = agent.ask("GET", f"{BASE}/spec")
    assert answer.status == 200, answer
    said = answer.body
    assert said["protocol"] == "AACP" and said["version"] == "1.0", said
    assert said["description"] == "Agent-to-Agent Communication Protocol", said
    assert said["message_types"] == ["request", "response", "notification"], said
    assert said["statuses"] == ["pending", "delivered", "processed", "failed"], said
    endpoints = {
        "send_message": "POST /api/v1/protocol/messages",
        "get_messages": "GET /api/v1/protocol/messages/{agent_id}",
        "protocol_version": "GET /api/v1/protocol/version",
        "protocol_spec": "GET /api/v1/protocol/spec",
    }
    assert endpoints.items() <= said["endpoints"].items(), said


def exchanges(url, folder):
    """The protocol's own example: a request, its answer, and a word without one."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    content = {"action": "summarize", "input": {"text": "Long text to summarize..."}}
    sent = anna.send(bert.id, content, correlation_id="optional-correlation-id")
    assert uuid.UUID(sent["id"]).version == 7, sent
    assert sent["sender_agent_id"] == anna.id and sent["receiver_agent_id"] == bert.id, sent
    assert sent["message_type"] == "request" and sent["content"] == content, sent
    assert sent["correlation_id"] == "optional-correlation-id", sent
    assert sent["status"] == "pending" and sent["processed_at"] is None, sent

    messages, total = bert.page()
    assert total == 1 and messages == [sent | {"status": "delivered"}], messages

    answer = bert.respond(messages[0], {"summary": "short", "confidence": 0.95})
    assert answer["status"] == "pending" and answer["message_type"] == "response", answer
    assert anna.read() == [answer | {"status": "delivered"}], "the answer lies in the sender's mailbox"

    content = {"action": "status_update", "metadata": {"status": "complete", "items_processed": 150}}
    news = anna.send(bert.id, content, "notification")
    assert news["content"] == content and news["message_type"] == "notification", news
    assert bert.read(limit=1) == [news | {"status": "delivered"}]
    assert bert.page()[1] == 2 and anna.page()[1] == 1, "each has its own messages only"


def correlations(url, folder):
    """Made where there is none, kept where there is one."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    made = [anna.send(bert.id)["correlation_id"], anna.send(bert.id, correlation_id=None)["correlation_id"]]
    made.append(anna.send(bert.id, kind="notification")["correlation_id"])
    assert len(set(made)) == 3, f"one each: {made}"
    assert [it["correlation_id"] for it in reversed(bert.read())] == made
    for text in ["k", "a b", "ünï ☃", "x" * 128, new_id(), "7"]:
        assert anna.send(bert.id, correlation_id=text)["correlation_id"] == text
        assert bert.read(limit=1)[0]["correlation_id"] == text


def kinds(url, folder):
    """A message that does not say what it is, is a request; what the broker fills in is not the sender's to say."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    body = anna.message(bert.id)
    del body["message_type"]
    answer = anna.post(body)
    assert answer.status == 201 and checked(answer.body)["message_type"] == "request", answer
    forged = {"id": new_id(), "status": "processed", "created_at": "2001-01-01T00:00:00Z"}
    forged |= {"processed_at": "2001-01-01T00:00:00Z"}
    answer = anna.post(anna.message(bert.id) | forged)
    if answer.status != 201:
        refused(answer, 422)
        return
    sent = checked(answer.body)
    assert sent["status"] == "pending" and sent["processed_at"] is None, sent
    assert sent["id"] != forged["id"] and not sent["created_at"].startswith("2001"), sent


def tool_calls(url, folder):
    """An agent as a tool: the action `tool_call`, and who called it beside the input."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    content = {"action": "tool_call", "input": {"query": "What is the weather in NYC?"}, "caller": anna.id}
    sent = anna.send(bert.id, content)
    assert sent["content"] == content, sent
    request = bert.read()[0]
    assert request["content"] == content, request
    bert.respond(request, {"weather": "fair"})
    answer = anna.read()[0]
    assert answer["content"] == {"action": "tool_call", "output": {"weather": "fair"}}, answer
    assert answer["correlation_id"] == sent["correlation_id"], answer


def names(url, folder):
    """An id that is no UUID is shown as the UUID it makes; both are the same agent wherever one is named."""
    odd = "söng:1/2?x=#%41"
    anna, bert = Agent.issued(url, folder, "anna"), Agent.issued(url, folder, odd)
    assert bert.alias == str(uuid.uuid5(uuid.NAMESPACE_URL, "urn:switchboard:agent:" + odd))
    sent = [anna.send(receiver) for receiver in (odd, alias(odd), alias(odd).upper())]
    for message in sent:
        assert message["sender_agent_id"] == alias("anna"), message
        assert message["receiver_agent_id"] == alias(odd), message
    by_alias = Agent(url, bert.alias, bert.token)
    for reader in (bert, by_alias):
        assert [it["id"] for it in reader.read()] == [it["id"] for it in reversed(sent)], reader.id
    # As its alias it sends, answers and settles, too.
    by_alias.respond(sent[0], {"la": 1})
    assert by_alias.settle(sent[1]["id"], "processed").status < 300
    assert [it["status"] for it in bert.read()] == ["delivered", "processed", "processed"]
    assert anna.read()[0]["sender_agent_id"] == bert.alias
    # A UUID is one name, however it is written.
    carl = Agent.issued(url, folder)
    anna.send(carl.id.upper())
    assert len(carl.read()) == 1
    assert Agent(url, carl.id.upper(), carl.token).page()[1] == 1


CONTENT = {
    "action": "sing", "input": {
        "text": "héllo ☃ 😀 \u2028 \u0000 \u001f \"quoted\" \\ / \n\t", "large": 2**53 + 1, "huge": -(10**40),
        "half": 0.5, "deep": {"a": [{}, [], None, True, False, {"b": {"": [[[]]]}}]}, "none": None, "": 1,
    },
    "output": None, "metadata": {"x": [1, 2]}, "more": {"of": "mine"},
}


def keeps_content(url, folder):
    """Content is the sender's: nothing is added, lost, reordered or rounded, down to the text of a number."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    assert anna.send(bert.id, CONTENT)["content"] == CONTENT
    assert bert.read()[0]["content"] == CONTENT
    body = json.dumps(anna.message(bert.id, {"action": "sing", "input": {"n": 0}}))
    for number in ["1.10", "1E5", "1.0", "-0", "1e400", "0.1000000000000000055511", "12345678901234567890123"]:
        answer = anna.post(body.replace('"n": 0', f'"n": {number}'))
        assert answer.status == 201 and number in answer.text, f"{number}: {answer.status} {answer.text}"
        text = bert.ask("GET", mailbox(bert.id, limit=1)).text
        assert f":{number}}}" in text.replace(" ", ""), f"{number} changed: {text}"


def large_content(url, folder):
    """A message may be 1 MiB, as it comes; more is refused as too much."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    sent = anna.send(bert.id, {"action": "sing", "input": {"text": "x" * 1_000_000}})
    assert bert.read()[0]["content"] == sent["content"]
    for size in (1_100_000, 8_000_000):
        refused(anna.post(anna.message(bert.id, {"action": "sing", "input": {"text": "x" * size}})), 413)
    assert bert.page()[1] == 1, "the connection is not the message: later ones go through"
    # Without a token nobody makes the broker read so much.
    refused(ask(url, "POST", f"{BASE}/messages", "x" * 100_000), 401, 413)


def by_registration(url, folder):
    """`POST /api/register` makes such an agent, too, and what it declares holds: rules and schemas."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    anna, rogue = Agent.issued(url, folder, "anna"), Agent.issued(url, folder, "rogue")
    can = {"name": "count", "description": "counts", "input_schema": schema, "output_schema": {}}
    can |= {"authorized_requester_ids": ["anna"]}
    said = {"sender_id": "bert", "receiver_id": "global_lobby", "message_type": "REGISTER"}
    answer = ask(url, "POST", "/api/register", said | {"payload": {"capabilities": [can]}})
    assert answer.status in (200, 201) and answer.body["payload"]["status"] == "success", answer
    bert = Agent(url, "bert", answer.body["payload"]["auth_token"])

    sent = anna.send("bert", {"action": "count", "input": {"n": 1}})
    assert bert.read() == [sent | {"status": "delivered"}]
    refused(rogue.post(rogue.message("bert", {"action": "count", "input": {"n": 1}})), 403)
    for wrong in ({"n": "one"}, {}):
        detail = refused(anna.post(anna.message("bert", {"action": "count", "input": wrong})), 422)
        assert "n" in detail, detail
    assert bert.page()[1] == 1


def openapi(url, folder):
    """The description of the interface needs no token, and describes every call that there is."""
    answer = ask(url, "GET", f"{BASE}/openapi.json")
    assert answer.status == 200 and answer.headers.get_content_type() == "application/json", answer
    assert answer.body["openapi"].startswith("3."), answer.text[:100]
    paths = {}
    for server in answer.body.get("servers") or [{"url": ""}]:
        prefix = urllib.parse.urlsplit(server["url"]).path.rstrip("/")
        paths |= {prefix + path: sorted(calls) for path, calls in answer.body["paths"].items()}
    for path, method in [("/version", "get"), ("/spec", "get"), ("/messages", "post")]:
        assert method in paths[BASE + path], paths
    inner = {path.removeprefix(BASE + "/messages/"): calls for path, calls in paths.items()}
    assert any("get" in calls for path, calls in inner.items() if path.startswith("{") and "/" not in path), paths
    assert any("post" in calls for path, calls in inner.items() if path.endswith("}/status")), paths
