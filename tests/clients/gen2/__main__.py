"""What a client of the second generation must be able to rely on: python tests/clients/gen2 URL SCENARIO"""
import sys
import time

from client import Peer, Refused, connections


def handshake(url):
    peer = Peer(url, "second")
    assert "agent:*" in peer.hello["capabilities"]["addresses"], peer.hello
    first, other = peer.subscribe("inbound:*"), peer.subscribe("outbound:*")
    assert first != other, "each subscription has an id of its own"
    assert peer.call("unsubscribe", address="inbound:*")["success"] is True
    for code, method, params in [
        (-32004, "unsubscribe", {"address": "inbound:*"}),
        (-32003, "subscribe", {"address": "outbound:*"}),
        (-32602, "sendMessage", {"from": "second", "payload": {}}),
        (-32601, "publish", {}),
    ]:
        try:
            raise AssertionError(f"{method} was not refused: {peer.call(method, **params)}")
        except Refused as refused:
            assert refused.args == (code,), f"{method}: wanted {code}, got {refused}"


def letters(url):
    reader, writer = Peer(url, "reader", "agent:reader"), Peer(url, "writer")
    sent = writer.ask("sendMessage", **{"from": "boss", "to": "agent:reader", "messageId": "7",
                                        "payload": {"text": "hello"}})
    id, letter = reader.letter()
    assert letter["from"] == "writer", f"it is signed by who sent it, not by {letter['from']}"
    assert letter["to"] == "agent:reader" and letter["payload"] == {"text": "hello"}, letter
    reader.reply(id, success=True, message="read")
    receipt = writer.receipt(sent)
    assert receipt["accepted"] and receipt["deliveredTo"] == 1, receipt
    assert receipt["messageId"] == letter["messageId"], "both sides know the message by one id"
    assert receipt["acks"][0]["clientId"] == "reader", receipt
    assert receipt["acks"][0]["success"] is True and receipt["acks"][0]["message"] == "read", receipt


def stops(url):
    older, newer = Peer(url, "older", "inbound:*"), Peer(url, "newer", "inbound:chat-1")
    sent = older.post("inbound:chat-1", text="stop")
    newer.reply(newer.letter()[0], success=True, stopPropagation=True)
    receipt = older.receipt(sent)
    assert receipt["stopPropagation"] is True and receipt["deliveredTo"] == 1, receipt
    assert not older.letters, "a stopped letter went on"


def asked_again(peer, sent, writer, times, **answer):
    """Answers so many times that it wants the letter again; returns the seconds between."""
    id, first = peer.letter()
    moments = [time.monotonic()]
    peer.reply(id, success=False, shouldRetry=True, **answer)
    receipt = writer.receipt(sent)
    ack = receipt["acks"][0]
    assert receipt["success"] and ack["retryScheduled"] is True and not ack["success"], receipt
    for _ in range(times):
        id, again = peer.letter()
        assert again == first, f"the same letter, to the letter: {again} after {first}"
        moments.append(time.monotonic())
        if len(moments) <= times:
            peer.reply(id, success=False, shouldRetry=True, **answer)
    return id, ack["retrySeconds"], [b - a for a, b in zip(moments, moments[1:])]


def retry(url):
    worker, writer = Peer(url, "worker", "agent:worker"), Peer(url, "writer")
    sent = writer.post("agent:worker", text="not yet")
    id, promised, waits = asked_again(worker, sent, writer, 2, retrySeconds=1)
    assert promised == 1 and all(1 <= wait < 3 for wait in waits), (promised, waits)
    worker.reply(id, success=True)
    worker.call("ping")


def gives_up(url):
    """Without `retrySeconds` the waits double from 200 ms, with up to a quarter more; 3 attempts."""
    worker, writer = Peer(url, "worker", "agent:worker"), Peer(url, "writer")
    sent = writer.post("agent:worker", text="never")
    id, promised, waits = asked_again(worker, sent, writer, 2)
    assert 0.2 <= promised <= 0.25 and waits[0] >= 0.2 and waits[1] >= 0.4, (promised, waits)
    worker.reply(id, success=False, shouldRetry=True)
    worker.call("ping")


def receive(url, retries=0, **answer):
    peer = Peer(url, "receiver", "inbound:*")
    print("ready", flush=True)
    for attempt in range(retries + 1):
        id, letter = peer.letter()
        assert letter["payload"]["text"] == "across", letter
        peer.reply(id, **({"success": False, "shouldRetry": True, "retrySeconds": 1}
                          if attempt < retries else answer))
    peer.call("ping")  # what was answered before it has left


def tell(url, success, retried=False):
    writer = Peer(url, "sender")
    receipt = writer.receipt(writer.post("inbound:chat-1", text="across"))
    assert receipt["accepted"] and receipt["success"] is success, receipt
    assert receipt["acks"][0]["success"] is (success and not retried), receipt
    assert receipt["acks"][0]["retryScheduled"] is retried, receipt


SCENARIOS = {
    "handshake": handshake, "letters": letters, "stops": stops, "retry": retry, "gives_up": gives_up,
    # Two halves of a story that is told with a client of another generation.
    "takes": lambda url: receive(url, success=True, stopPropagation=False),
    "declines": lambda url: receive(url, success=False),
    "takes_later": lambda url: receive(url, retries=1, success=True),
    "is_taken": lambda url: tell(url, True),
    "is_declined": lambda url: tell(url, False),
    "is_taken_later": lambda url: tell(url, True, retried=True),
}

if __name__ == "__main__":
    with connections:
        SCENARIOS[sys.argv[2]](sys.argv[1])
