"""`open = true` under `[aacp]`: on this machine nobody needs a token, but whose name has one needs it."""
from client import BASE, Agent, ask, checked, mailbox, new_id, refused


def open_door(url, folder):
    """No token, and a mailbox for every UUID that somebody names."""
    anna, bert = Agent(url, new_id(), None), Agent(url, new_id(), None)
    assert ask(url, "GET", f"{BASE}/version").body == {"protocol": "AACP", "version": "1.0"}
    assert ask(url, "GET", f"{BASE}/spec").status == 200
    sent = anna.send(bert.id)
    assert bert.read() == [sent | {"status": "delivered"}]
    bert.respond(sent, {"la": 1})
    assert anna.wait()[0]["content"]["output"] == {"la": 1}
    assert bert.find(sent["id"])["status"] == "processed"
    second = anna.send(bert.id)
    assert bert.settle(second["id"], "processed").status < 300
    # Both sides may be new, also where somebody only looks.
    assert Agent(url, new_id(), None).page() == ([], 0)


def open_names(url, folder):
    """Only a UUID makes a mailbox; a name must be known."""
    anna = Agent(url, new_id(), None)
    for name in ("nobody", "x" * 128):
        refused(anna.post(anna.message(name)), 404)
        refused(ask(url, "GET", mailbox(name)), 404)
        refused(ask(url, "POST", f"{BASE}/messages", anna.message(anna.id) | {"sender_agent_id": name}), 403, 404)
    # The names of the broker are nobody's, nor are their UUIDs.
    for name in ("switchboard", "router", "lobby", "global_lobby"):
        body = anna.message(anna.id) | {"sender_agent_id": name}
        refused(ask(url, "POST", f"{BASE}/messages", body), 401, 403, 404, 422)
        body["sender_agent_id"] = Agent(url, name, None).alias
        answer = ask(url, "POST", f"{BASE}/messages", body)
        assert answer.status in (201, 401, 403, 404, 422), answer
    assert all(it["sender_agent_id"] != name for it in anna.read())


def open_owned(url, folder):
    """An id that owns a token still needs it, by whichever of its names."""
    anna = Agent(url, new_id(), None)
    for owner in (Agent.issued(url, folder), Agent.issued(url, folder, "owner")):
        sent = anna.send(owner.id, {"action": "sing", "input": {"secret": 1}})
        other = Agent.issued(url, folder)
        for name in {owner.id, owner.alias, owner.alias.upper()}:
            thief = Agent(url, name, None)
            refused(thief.ask("GET", mailbox(name)), 401)
            refused(thief.post(thief.message(anna.id)), 401)
            refused(thief.settle(sent["id"], "processed"), 401, 403, 404)
            thief.token = "wrong"
            refused(thief.ask("GET", mailbox(name)), 401)
            thief.token = other.token
            refused(thief.ask("GET", mailbox(name)), 403)
            refused(thief.post(thief.message(anna.id)), 403)
        assert owner.read() == [sent | {"status": "delivered"}]
        owner.respond(sent, {"la": 1})
    assert len(anna.read()) == 2
    # Nor is what has no token anybody's who comes with one of its own.
    body = anna.message(anna.id) | {"sender_agent_id": anna.id}
    answer = ask(url, "POST", f"{BASE}/messages", body, other.token)
    assert answer.status == 403 or checked(answer.body)["sender_agent_id"] == anna.id, answer


def open_then_owned(url, folder):
    """A UUID that anybody could use is its owner's alone from the moment it has a token."""
    anna, bert = Agent(url, new_id(), None), Agent(url, new_id(), None)
    sent = anna.send(bert.id)
    owner = Agent.issued(url, folder, bert.id)
    refused(bert.ask("GET", mailbox(bert.id)), 401)
    refused(bert.settle(sent["id"], "processed"), 401, 403, 404)
    assert owner.read() == [sent | {"status": "delivered"}]


def open_pages(url, folder):
    """Open for programs of this machine, not for web pages that run on it."""
    anna = Agent(url, new_id(), None)
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        answer = ask(url, "POST", f"{BASE}/messages", anna.message(anna.id), **headers)
        assert answer.status == 403, f"{headers}: {answer}"
    assert anna.page() == ([], 0)
