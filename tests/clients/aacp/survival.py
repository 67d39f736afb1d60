"""What is on the disk: a crash loses nothing, and an end waits for nobody's patience."""
import signal
import time
from concurrent.futures import ThreadPoolExecutor

from client import Agent, Broker


def survives(url, folder):
    """After `kill -9` mailboxes and statuses are what they were, and all goes on."""
    del url, folder
    with Broker() as broker:
        anna, bert = Agent.issued(broker.url, broker.folder), Agent.issued(broker.url, broker.folder, "bert")
        pending, delivered, answered, said, failed = (anna.send("bert", correlation_id=f"k{n}") for n in range(5))
        assert [it["id"] for it in bert.read(limit=1, offset=3)] == [delivered["id"]]
        answer = bert.respond(answered, {"n": 2**60 + 1})
        for message, status in [(said, "processed"), (failed, "failed")]:
            assert bert.settle(message["id"], status).status < 300
        heard = {it["id"]: it for it in anna.wait(2)}

        broker.crash()
        anna.url = bert.url = broker.url
        again = {it["id"]: it for it in anna.read()}
        assert again == heard and again[answer["id"]]["content"]["output"] == {"n": 2**60 + 1}, again
        messages, total = bert.page()
        assert total == 5, messages
        sent = [failed, said, answered, delivered, pending]
        statuses = ["failed", "processed", "processed", "delivered", "delivered"]
        assert [(it["id"], it["status"]) for it in messages] == list(zip((it["id"] for it in sent), statuses))
        for before, now in zip(sent, messages):
            changed = {"status": now["status"], "processed_at": now["processed_at"]}
            assert now == before | changed, f"{now} was {before}"
        bert.respond(pending, {"late": 1})
        assert anna.wait(3)[0]["content"]["output"] == {"late": 1}
        assert bert.find(pending["id"])["status"] == "processed"


def survives_while_sending(url, folder):
    """Whatever was answered with 201 is there after `kill -9`, in the middle of it all."""
    del url, folder
    with Broker("[aacp]\nrate_per_second = 100000\nburst = 100000\n") as broker:
        bert = Agent.issued(broker.url, broker.folder)
        senders = [Agent.issued(broker.url, broker.folder) for _ in range(3)]

        def talk(sender):
            accepted = []
            try:
                while True:
                    accepted.append(sender.send(bert.id)["id"])
            except (ConnectionError, OSError, AssertionError, ValueError):
                return accepted
            except Exception as error:  # half an answer
                assert "http" in type(error).__module__, error
                return accepted
        with ThreadPoolExecutor() as pool:
            talking = [pool.submit(talk, sender) for sender in senders]
            while bert.page(limit=1)[1] < 60:
                pass
            broker.crash()
            accepted = {message for sender in talking for message in sender.result()}
        bert.url = broker.url
        there, offset = set(), 0
        while page := bert.read(limit=50, offset=offset):
            there |= {it["id"] for it in page}
            offset += len(page)
        assert len(accepted) >= 50 and accepted <= there, f"lost: {accepted - there}"


def ends_in_time(url, folder):
    """A broker that is asked to end does so, and whoever waits for a message is answered."""
    del url, folder
    with Broker() as broker:
        bert = Agent.issued(broker.url, broker.folder)
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(bert.page, wait=15)
            assert bert.page() == ([], 0)
            began = time.monotonic()
            broker.process.send_signal(signal.SIGTERM)
            assert broker.process.wait(12) == 0
            assert time.monotonic() - began < 8, "it waited for one who waits"
            error = waiting.exception()
            assert error is None or not isinstance(error, TimeoutError), error
