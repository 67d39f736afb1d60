"""Reading: newest first, page by page, own messages only, and waiting for what is not there yet."""
import time
from concurrent.futures import ThreadPoolExecutor

from client import Agent, ask, hang_up, mailbox, new_id, refused


def empty(url, folder):
    """`bub token issue` makes a mailbox; nothing lies in it yet."""
    assert Agent.issued(url, folder).page() == ([], 0)
    assert Agent.issued(url, folder, "a-name").page() == ([], 0)


def pages(url, folder):
    """Newest first; `limit` and `offset` cut a page; `total` counts the mailbox."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    sent = [anna.send(bert.id, {"action": "count", "input": {"n": n}})["id"] for n in range(12)][::-1]

    def ids(**query):
        messages, total = bert.page(**query)
        assert total == 12, f"{query}: {total}"
        return [message["id"] for message in messages]
    assert ids() == sent
    assert ids(limit=5) == sent[:5]
    assert ids(limit=5, offset=10) == sent[10:]
    assert ids(offset=3) == sent[3:]
    assert ids(limit=1, offset=11) == sent[11:]
    assert ids(limit=5, offset=12) == [] and ids(offset=1_000_000) == []
    assert anna.page() == ([], 0), "what was sent does not lie in the sender's mailbox"


def by_status(url, folder):
    """`status` shows only those, and counts only those."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    done, read, failed = (anna.send(bert.id) for _ in range(3))
    assert bert.page(status="processed") == ([], 0)
    assert bert.settle(done["id"], "processed").status == 200
    assert bert.settle(failed["id"], "failed").status == 200
    bert.read()
    for status, message in [("processed", done), ("failed", failed), ("delivered", read)]:
        messages, total = bert.page(status=status)
        assert total == 1 and messages[0]["id"] == message["id"] and messages[0]["status"] == status, messages
    unread = anna.send(bert.id)
    messages, total = bert.page(status="pending")
    assert total == 1 and messages[0]["id"] == unread["id"], messages
    for wrong in ("", "done", "PENDING", "1"):
        refused(bert.ask("GET", mailbox(bert.id, status=wrong)), 400, 422)


def only_read_is_delivered(url, folder):
    """A page delivers what is on it; what nobody has seen is still pending."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    old, new = anna.send(bert.id), anna.send(bert.id)
    assert [it["id"] for it in bert.read(limit=1)] == [new["id"]]
    # Were the old one delivered, nothing new would be there to come back at once for.
    began = time.monotonic()
    assert old["id"] in [it["id"] for it in bert.read(wait=8)]
    assert time.monotonic() - began < 5, "there was a message that had not been read"


def wrong_queries(url, folder):
    agent = Agent.issued(url, folder)
    for name in ("limit", "offset", "wait"):
        for wrong in ("-1", "x", "1.5e", "", "99999999999999999999999", "1;2", "0x1", "null", "\0", "١"):
            answer = agent.ask("GET", mailbox(agent.id, **{name: wrong}))
            # A number beyond all bounds may as well count as the largest.
            if answer.status != 200 or not wrong.startswith("999"):
                refused(answer, 400, 422)
    for query in ("limit", "limit=1&limit=2", "&&", "%ff=%ff", "limit=%ff"):
        answer = agent.ask("GET", f"{mailbox(agent.id)}?{query}")
        assert answer.status in (200, 400, 422), f"{query}: {answer.status} {answer.text}"
    answer = agent.ask("GET", mailbox(agent.id, unknown="parameter"))
    assert answer.status in (200, 400, 422), answer


def only_ones_own(url, folder):
    """Agents read only their own messages, by whichever name, and speak only as themselves."""
    anna, bert, eve = (Agent.issued(url, folder, name) for name in ("anna", "bert", "eve"))
    sent = anna.send("bert", {"action": "sing", "input": {"secret": 7}})
    for name in ("bert", bert.alias, bert.alias.upper(), "anna", anna.alias):
        for query in ({}, {"wait": 1}, {"limit": 0}):
            refused(eve.ask("GET", mailbox(name, **query)), 403)
    for name in ("nobody", new_id()):
        refused(eve.ask("GET", mailbox(name)), 403, 404)
    for sender in ("anna", anna.alias, "nobody", new_id(), "switchboard", "router", "lobby", "global_lobby"):
        refused(eve.post(eve.message("bert") | {"sender_agent_id": sender}), 403)
    for status in ("processed", "failed"):
        refused(eve.settle(sent["id"], status), 403, 404)
        refused(anna.settle(sent["id"], status), 403, 404)  # nor is it the sender's to say
    assert bert.read() == [sent | {"status": "delivered"}], "nothing of that came here"


def waits(url, folder):
    """`?wait=SECONDS` comes back as soon as there is a message."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(bert.page, wait=15)
        assert ask(url, "GET", "/healthz").status == 200
        began = time.monotonic()
        sent = anna.send(bert.id)
        messages, total = waiting.result()
        assert total == 1 and messages == [sent | {"status": "delivered"}], messages
        assert time.monotonic() - began < 5, "as soon as it is there"
    # What is there and was not read yet needs no waiting.
    second = anna.send(bert.id)
    began = time.monotonic()
    assert [it["id"] for it in bert.read(wait=15)] == [second["id"], sent["id"]]
    assert time.monotonic() - began < 5


def waits_in_vain(url, folder):
    """When the time is over there is what there is; another's message wakes nobody."""
    anna, bert, carl = (Agent.issued(url, folder) for _ in range(3))
    began = time.monotonic()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(bert.page, wait=1)
        anna.send(carl.id)
        assert waiting.result() == ([], 0)
    assert 0.9 < time.monotonic() - began < 5
    assert bert.page(wait=0) == ([], 0)
    # What was read before is no reason to come back at once: it stays in the mailbox for good.
    assert len(carl.read()) == 1
    began = time.monotonic()
    assert len(carl.read(wait=1)) == 1
    assert 0.9 < time.monotonic() - began < 5, "there was nothing new"


def hangs_up(url, folder):
    """Who is gone before its answer has lost nothing."""
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    for _ in range(20):
        hang_up(bert, mailbox(bert.id, wait=15))
    sent = anna.send(bert.id)
    assert [it["id"] for it in bert.wait()] == [sent["id"]]


def order(url, folder):
    """What many send at once is all there, and in order for each of them."""
    bert = Agent.issued(url, folder)
    senders = [Agent.issued(url, folder) for _ in range(4)]

    def talk(sender):
        return [sender.send(bert.id, {"action": "count", "input": {"n": n}})["id"] for n in range(10)]
    with ThreadPoolExecutor() as pool:
        sent = dict(zip((it.id for it in senders), pool.map(talk, senders)))
    messages, total = bert.page(limit=100)
    assert total == len(messages) == 40, (total, len(messages))
    for sender, ids in sent.items():
        there = [it["id"] for it in reversed(messages) if it["sender_agent_id"] == sender]
        assert there == ids, f"{sender}: {there}"


def read_without_settling(url, folder):
    """Who only ever reads is never cut off: what it has read does not stop what comes."""
    # The broker lets 3 deliveries be unanswered and 5 messages wait.
    anna, bert = Agent.issued(url, folder), Agent.issued(url, folder)
    for n in range(12):
        sent = anna.send(bert.id, {"action": "news", "metadata": {"n": n}}, "notification")
        assert bert.read(limit=1) == [sent | {"status": "delivered"}], n
    assert bert.page(limit=100)[1] == 12


def full(url, folder):
    """A mailbox that is full refuses, and says when to come again; what it had taken is there."""
    # The broker lets 3 deliveries be unanswered and 5 messages wait.
    anna, bert, carl = (Agent.issued(url, folder) for _ in range(3))
    sent = []
    for _ in range(12):
        answer = anna.post(anna.message(bert.id, kind="notification"))
        if answer.status != 201:
            break
        sent.append(answer.body["id"])
    refused(answer, 429, 503)
    assert int(answer.headers["Retry-After"]) > 0, answer.headers.items()
    assert len(sent) >= 5, sent
    anna.send(carl.id)  # others are not full
    messages, total = bert.page(limit=100)
    assert total == len(sent) and [it["id"] for it in messages] == sent[::-1], messages
    for message in sent:
        assert bert.settle(message, "processed").status < 300
    anna.send(bert.id)


def many_wait(url, folder):
    """Those who wait are no burden for each other; each is woken by its own message."""
    anna = Agent.issued(url, folder)
    readers = [Agent.issued(url, folder) for _ in range(20)]
    with ThreadPoolExecutor(len(readers)) as pool:
        waiting = [pool.submit(reader.page, wait=15) for reader in readers]
        began = time.monotonic()
        sent = [anna.send(reader.id) for reader in reversed(readers)]
        heard = [one.result()[0] for one in waiting]
    assert [[it["id"] for it in one] for one in heard] == [[it["id"]] for it in reversed(sent)], heard
    assert time.monotonic() - began < 10
