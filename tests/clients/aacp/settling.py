"""What becomes of a message: pending, delivered, processed or failed."""
import json
import time

from client import BASE, Agent, bub, checked, new_id, refused


def answers_settle(url, folder):
    """A response with its correlation makes a request processed, read or not."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    read, unread, other = (anna.send(bert.id) for _ in range(3))
    bert.respond(unread, {"la": 1})
    assert {it["id"]: it["status"] for it in bert.read()} == {
        read["id"]: "delivered", unread["id"]: "processed", other["id"]: "delivered",
    }
    bert.respond(read, {"la": 2})
    now = bert.find(read["id"])
    assert now["status"] == "processed" and now["processed_at"], now
    assert now == read | {"status": "processed", "processed_at": now["processed_at"]}, "nothing else changed"
    assert bert.find(other["id"])["status"] == "delivered", "another correlation"
    heard = anna.read()
    assert [it["content"]["output"] for it in heard] == [{"la": 2}, {"la": 1}], heard
    assert [it["correlation_id"] for it in heard] == [read["correlation_id"], unread["correlation_id"]], heard


def only_the_receivers_answer_settles(url, folder):
    """From the receiver to the sender; a word of anybody else with that correlation is none."""
    anna, bert, eve = (Agent.issued(url, folder) for _ in range(3))
    request = anna.send(bert.id, correlation_id="known to all")
    content = {"action": "sing", "output": {"forged": True}}
    for sender, receiver in [(eve, anna), (eve, bert), (bert, eve), (anna, bert), (bert, bert)]:
        answer = sender.post(sender.message(receiver.id, content, "response", correlation_id="known to all"))
        assert answer.status == 201 or 400 <= answer.status < 500, answer
    assert bert.find(request["id"])["status"] == "delivered"
    wrong = bert.post(bert.message(anna.id, content, "response", correlation_id="another"))
    assert wrong.status == 201 or 400 <= wrong.status < 500, wrong
    bert.send(anna.id, content, "notification", correlation_id="known to all")
    assert bert.find(request["id"])["status"] == "delivered", "a notification is no answer"
    bert.respond(request, {"la": 1})
    assert bert.find(request["id"])["status"] == "processed"
    answers = [it for it in anna.read() if it["content"].get("output") == {"la": 1}]
    assert len(answers) == 1 and answers[0]["sender_agent_id"] == bert.id, answers


def receivers_say(url, folder):
    """The receiver says processed, or failed; before it has read, or after."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    for kind in ("request", "notification"):
        for status in ("processed", "failed"):
            for reads in (True, False):
                sent = anna.send(bert.id, kind=kind)
                if reads:
                    bert.find(sent["id"])
                answer = bert.settle(sent["id"], status)
                assert 200 <= answer.status < 300, f"{kind} {status}: {answer}"
                if answer.text and "status" in answer.body:
                    assert answer.body["status"] == status, answer
                now = bert.find(sent["id"])
                assert now == sent | {"status": status, "processed_at": now["processed_at"]}, f"{kind} {status}: {now}"
    assert all(it["processed_at"] for it in bert.read() if it["status"] == "processed")


def failure_is_heard(url, folder):
    """Who asked hears of a failure as a response with `output.error`."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    sent = anna.send(bert.id, {"action": "sing", "input": {}}, correlation_id="k")
    assert bert.settle(sent["id"], "failed").status < 300
    heard = anna.wait()
    assert len(heard) == 1 and heard[0]["message_type"] == "response", heard
    assert heard[0]["correlation_id"] == "k", heard
    assert heard[0]["content"]["output"]["error"], heard
    # One that fails by its answer says so itself.
    second = anna.send(bert.id)
    bert.respond(second, {"error": "no voice today, sörry"})
    heard = anna.wait(2)[0]
    assert heard["content"]["output"] == {"error": "no voice today, sörry"}, heard
    assert bert.find(second["id"])["status"] in ("failed", "processed")
    # Nobody waits for an answer to a notification.
    news = anna.send(bert.id, kind="notification")
    assert bert.settle(news["id"], "failed").status < 300
    assert anna.page()[1] == 2


def failure_says_why(url, folder):
    """What the receiver says of a failure reaches whoever asked."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    sent = anna.send(bert.id)
    body = {"status": "failed", "detail": "no voice today, sörry"}
    answer = bert.ask("POST", f"{BASE}/messages/{sent['id']}/status", body)
    assert answer.status == 200, answer
    heard = anna.wait()[0]
    assert "no voice today, sörry" in json.dumps(heard["content"]["output"]["error"], ensure_ascii=False), heard


def settled_once(url, folder):
    """What is settled stays as it is; saying the same again does no harm."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    for first, second in [("processed", "failed"), ("failed", "processed")]:
        sent = anna.send(bert.id, kind="notification")
        assert bert.settle(sent["id"], first).status < 300
        before = bert.find(sent["id"])
        for again in (first, second):
            answer = bert.settle(sent["id"], again)
            assert 200 <= answer.status < 300 or answer.status in (400, 404, 409, 422), answer
            assert bert.find(sent["id"]) == before, f"{first}, then {again}"
    request = anna.send(bert.id)
    bert.respond(request, {"la": 1})
    before = bert.find(request["id"])
    bert.post(bert.message(anna.id, {"action": "sing", "output": {"la": 2}}, "response",
                           correlation_id=request["correlation_id"]))
    bert.settle(request["id"], "failed")
    assert bert.find(request["id"]) == before


def wrong_statuses(url, folder):
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    sent = anna.send(bert.id)
    path = f"{BASE}/messages/{sent['id']}/status"
    for wrong in ("pending", "delivered", "PROCESSED", "", "done", None, 7, [], {}, True, ["processed"]):
        refused(bert.ask("POST", path, {"status": wrong}), 422)
    for body in ({}, {"state": "processed"}, [], "7", "null", '"processed"'):
        refused(bert.ask("POST", path, body), 422)
    for body in ("", "{", "{'status': 'processed'}", b"\xff", '{"status": "processed"'):
        refused(bert.ask("POST", path, body), 400)
    for other in (new_id(), "x", "..", "%00", "0" * 36):
        refused(bert.ask("POST", f"{BASE}/messages/{other}/status", {"status": "processed"}), 400, 404, 422)
    refused(bert.settle(new_id(), "processed"), 404)
    assert bert.find(sent["id"])["status"] == "delivered"


def operator_sees(url, folder):
    """The operator sees the same messages, and what became of them."""
    anna, bert = Agent.issued(url, folder, "anna"), Agent.issued(url, folder, "bert")
    waiting = anna.send("bert", {"action": "sing", "input": {"n": 2**60 + 1}}, correlation_id="k")
    done = anna.send("bert")
    assert bert.settle(done["id"], "processed").status < 300
    rows = {row["id"]: row for row in json.loads(bub(folder, "messages", "--json"))}
    for sent, state in [(waiting, "waiting"), (done, "processed")]:
        row = rows[sent["id"]]
        assert row["from"] == "anna" and row["to"] == "bert" and row["door"] == "aacp", row
        assert row["capability"] == "sing" and row["state"] == state, row
    agents = {row["id"]: row for row in json.loads(bub(folder, "agents", "--json"))}
    for name in ("anna", "bert"):
        assert agents[name]["doors"] == ["aacp"], agents[name]


def unanswered(url, folder):
    """A call waits in the mailbox as long as it must: silence is no failure of an agent that reads when it likes."""
    # The broker is hasty: it would long have given up on anybody else.
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    unread, read = anna.send(bert.id), anna.send(bert.id)
    bert.read(limit=1)
    began = time.monotonic()
    assert anna.page(wait=4) == ([], 0), "nobody failed"
    assert time.monotonic() - began > 3
    for request in (unread, read):
        assert bert.find(request["id"])["status"] == "delivered"
        bert.respond(request, {"la": 1})
        assert checked(bert.find(request["id"]))["status"] == "processed"
    assert [it["content"]["output"] for it in anna.read()] == [{"la": 1}] * 2
