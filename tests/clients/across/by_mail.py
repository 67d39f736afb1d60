"""AACP over asyncio: an agent that reads its mailbox all the time, so that it can call and be called at once."""
import asyncio
import dataclasses
import json
import urllib.parse

from exact import TOKEN, WRITTEN, marked

MESSAGES = "/api/v1/protocol/messages"


@dataclasses.dataclass
class Answer:
    status: int
    body: dict


class Mailbox:
    """HTTP, a connection a request; `exact` as in `exact.py`."""

    def __init__(self, url, agent_id, token=None):
        self.url, self.id, self.token, self.exact = url, agent_id, token, False
        self.known, self.answers, self.inbox = set(), {}, asyncio.Queue()

    async def ask(self, method, path, body=None):
        address = urllib.parse.urlsplit(self.url)
        text = "" if body is None else json.dumps(body)
        text = WRITTEN.sub(r"\1", text) if self.exact else text
        head = [f"{method} {path} HTTP/1.1", f"Host: {address.netloc}", "Connection: close"]
        head += [f"Authorization: Bearer {self.token}"] if self.token else []
        head += ["Content-Type: application/json", f"Content-Length: {len(text.encode())}", "", text]
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        try:
            writer.write("\r\n".join(head).encode())
            head, _, text = (await reader.read()).decode().partition("\r\n\r\n")
        finally:
            writer.close()
        assert "transfer-encoding" not in head.lower(), head
        text = TOKEN.sub(marked, text) if self.exact else text
        return Answer(int(head.split()[1]), json.loads(text))

    async def send(self, receiver, content, kind, correlation=None):
        fields = {"sender_agent_id": self.id, "receiver_agent_id": receiver, "message_type": kind}
        return await self.ask("POST", MESSAGES, fields | {"content": content, "correlation_id": correlation})

    async def page(self, **query):
        path = f"{MESSAGES}/{urllib.parse.quote(self.id, safe='')}?{urllib.parse.urlencode(query)}"
        answer = await self.ask("GET", path)
        assert answer.status == 200, answer
        return answer.body["messages"]

    async def read(self):
        """Takes in what comes: answers to whoever waits for them, all else to the inbox."""
        while True:
            for message in reversed(await self.page(limit=100, wait=10)):
                if message["id"] not in self.known:
                    self.known.add(message["id"])
                    self.take(message)

    def take(self, message):
        waiting = message["message_type"] == "response" and self.answers.pop(message["correlation_id"], None)
        if waiting:
            waiting.set_result(message)
        else:
            self.inbox.put_nowait(message)
