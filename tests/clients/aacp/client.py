"""A client of AACP v1: plain HTTP, a bearer token in every request.

`Agent` is one agent with its mailbox. `ask` is any request at all, also such as no agent would make.
"""
import contextlib
import dataclasses
import datetime
import http.client
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import urllib.parse
import uuid

BASE = "/api/v1/protocol"
PATIENCE = 20
FIELDS = {
    "id", "sender_agent_id", "receiver_agent_id", "message_type", "content", "correlation_id", "status",
    "created_at", "processed_at",
}


@dataclasses.dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def body(self):
        return json.loads(self.text)


def ask(url, method, path, body=None, token=None, **headers):
    """One request on a connection of its own; a body that is no text yet is written as JSON."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
        body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.connect()
        with contextlib.suppress(ConnectionError):  # it may refuse before it has read everything
            connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode())


def mailbox(agent_id, **query):
    path = f"{BASE}/messages/{urllib.parse.quote(agent_id, safe='')}"
    return path + (f"?{urllib.parse.urlencode(query)}" if query else "")


def alias(agent_id):
    """The UUID that stands for an id that is none."""
    try:
        return str(uuid.UUID(agent_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:switchboard:agent:{agent_id}"))


def checked(message):
    """A message, in the shape that all messages have."""
    assert message.keys() == FIELDS, f"wrong fields: {message}"
    for name in ("id", "sender_agent_id", "receiver_agent_id"):
        assert str(uuid.UUID(message[name])) == message[name], f"{name} is no UUID: {message}"
    assert message["message_type"] in ("request", "response", "notification"), message
    assert isinstance(message["content"], dict), message
    assert message["correlation_id"] and isinstance(message["correlation_id"], str), message
    assert message["status"] in ("pending", "delivered", "processed", "failed"), message
    for name in ("created_at", "processed_at"):
        if message[name] is not None:
            assert datetime.datetime.fromisoformat(message[name]).tzinfo, f"{name} has no zone: {message}"
    assert message["created_at"], message
    if message["status"] in ("pending", "delivered"):
        assert message["processed_at"] is None, message
    if message["status"] == "processed":
        assert message["processed_at"] >= message["created_at"], message
    return message


def refused(answer, *statuses):
    """No, with one of these statuses, and a reason; returns the reason."""
    assert answer.status in statuses, f"wanted {statuses}: {answer.status} {answer.text[:500]}"
    assert answer.headers.get_content_type() == "application/json", answer.headers.items()
    detail = answer.body.get("detail")
    assert isinstance(detail, str) and detail, f"no detail: {answer.text[:500]}"
    return detail


def new_id():
    return str(uuid.uuid4())


class Agent:
    """An agent whose token the operator has issued, or which was given one."""

    def __init__(self, url, agent_id, token):
        self.url, self.id, self.token = url, agent_id, token
        self.alias = alias(agent_id)

    @classmethod
    def issued(cls, url, folder, agent_id=None):
        """`bub token issue` makes an agent with a mailbox."""
        agent_id = agent_id or new_id()
        issued = json.loads(bub(folder, "token", "issue", agent_id, "--json"))
        assert issued["agentId"] == agent_id, issued
        return cls(url, agent_id, issued["token"])

    def ask(self, method, path, body=None, **headers):
        return ask(self.url, method, path, body, self.token, **headers)

    def message(self, receiver, content=None, kind="request", **more):
        content = {"action": "sing", "input": {}} if content is None else content
        fields = {"sender_agent_id": self.id, "receiver_agent_id": receiver, "message_type": kind}
        return fields | {"content": content} | more

    def post(self, body):
        return self.ask("POST", f"{BASE}/messages", body)

    def send(self, receiver, content=None, kind="request", **more):
        """Sends a message, which is accepted; returns it."""
        answer = self.post(self.message(receiver, content, kind, **more))
        assert answer.status == 201, f"{answer.status} {answer.text}"
        return checked(answer.body)

    def respond(self, request, output, **instead):
        """Answers a request as the protocol has it: to its sender, with its correlation."""
        content = {"action": request["content"].get("action"), "output": output}
        fields = {"correlation_id": request["correlation_id"]} | instead
        return self.send(fields.pop("receiver", request["sender_agent_id"]), content, "response", **fields)

    def settle(self, message_id, status):
        return self.ask("POST", f"{BASE}/messages/{message_id}/status", {"status": status})

    def page(self, **query):
        """A page of the mailbox, and how many messages there are in all."""
        answer = self.ask("GET", mailbox(self.id, **query))
        assert answer.status == 200, f"{answer.status} {answer.text}"
        assert answer.body.keys() == {"messages", "total"}, answer.text[:500]
        for message in answer.body["messages"]:
            checked(message)
            assert message["receiver_agent_id"] == self.alias, f"not for {self.id}: {message}"
            assert message["status"] != "pending", f"it has just been read: {message}"
        return answer.body["messages"], answer.body["total"]

    def read(self, **query):
        return self.page(**query)[0]

    def find(self, message_id):
        """This message, as it lies in the mailbox now."""
        found = [message for message in self.read() if message["id"] == message_id]
        assert len(found) == 1, f"{message_id} is there {len(found)} times"
        return found[0]

    def wait(self, count=1):
        """Waits until there are so many messages in the mailbox; newest first."""
        for _ in range(count + 1):
            messages, total = self.page(wait=PATIENCE // 2)
            if total >= count:
                return messages
        raise AssertionError(f"{self.id} wanted {count} messages: {messages}")


def program(name):
    return pathlib.Path(os.environ["SWITCHBOARD_BIN"], name)


def bub(folder, *arguments):
    """What the operator's command prints."""
    done = subprocess.run(
        [program("bub"), *arguments, "--data-dir", folder], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, f"bub {arguments}: {done.stderr}"
    return done.stdout


class Broker:
    """A broker of the scenario's own, which it may end as it likes and start again."""

    def __init__(self, settings="", discovery=""):
        self.data = tempfile.TemporaryDirectory()
        self.folder = self.data.name
        text = f"{settings}\n[discovery]\nmdns = false\n{discovery}"
        pathlib.Path(self.folder, "switchboard.toml").write_text(text)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.data.cleanup()

    def start(self):
        command = [program("switchboardd"), "--listen", "127.0.0.1:0", "--data-dir", self.folder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = self.process.stdout.readline()
        assert ready.startswith("listening on "), f"it does not start: {ready}"
        self.url = ready.removeprefix("listening on ").strip()

    def crash(self):
        """`kill -9`, and a start with what is on the disk."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.start()


def hang_up(agent, path):
    """Asks, and is gone before the answer."""
    address = urllib.parse.urlsplit(agent.url)
    with socket.create_connection((address.hostname, address.port), PATIENCE) as line:
        head = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {agent.token}\r\n\r\n"
        line.sendall(head.encode())
