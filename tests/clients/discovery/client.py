"""A client of the discovery protocol, by HTTP and WebSocket: agents that announce themselves, and those who look."""
import json
import time
import urllib.parse
import uuid

from aacp.client import PATIENCE, ask, bub
from discovery.keys import Key, rfc8785
from websockets.sync.client import connect

ANNOUNCE, QUERY, RESPONSE = 1, 2, 3
CODES = {400: "ErrMalformedPayload", 401: "ErrAuth", 403: "ErrForbidden", 409: "ErrDuplicateID"}
RETRY = {400: "5", 401: "30"}


def jwt(folder, *scopes, ttl=None):
    """What the operator gives to those who may look or announce."""
    arguments = [word for scope in scopes for word in ("--scope", f"discover:{scope}")]
    arguments += ["--ttl", str(ttl)] if ttl is not None else []
    printed = bub(folder, "token", "jwt", *arguments).strip()
    return json.loads(printed)["token"] if printed.startswith("{") else printed


class Agent:
    """Somebody who announces itself. `agent` is what it says, and may be changed before it is said."""

    def __init__(self, capability="metrics", key=None, agent_id=None, **more):
        self.key = key or Key()
        self.id = agent_id or str(uuid.uuid4())
        self.agent = {
            "agent_id": self.id,
            "agent_name": "data-processor",
            "capabilities": {capability: "2.0"},
            "public_key": self.key.pem,
            "transport": {"type": "tcp", "endpoint": "10.0.0.12:9000"},
            "metadata": {"__os": "linux", "__arch": "amd64"},
        } | more

    def unsigned(self, version="v1.0"):
        return {"protocol_version": version, "agent": self.agent}

    def signed(self, form=rfc8785, scheme=None, version="v1.0"):
        return self.unsigned(version) | {"signature": self.key.sign(form(self.agent), scheme)}

    def rotated(self, new):
        """The same agent with a new key, which the old key vouches for."""
        old, self.key = self.key, new
        self.agent["public_key"] = new.pem
        return self.signed() | {"rotation_signature": old.sign(rfc8785(self.agent))}


class Registry:
    """The broker as a registry, for somebody with a token for these scopes."""

    def __init__(self, url, folder, *scopes):
        self.url, self.folder = url, folder
        self.token = jwt(folder, *(scopes or ("read", "write")))

    def ask(self, method, path, body=None, **headers):
        return ask(self.url, method, path, body, self.token, **headers)

    def announce(self, said):
        """What comes of an announcement; one of an agent itself is signed."""
        return self.ask("POST", "/agents", said.signed() if isinstance(said, Agent) else said)

    def accepts(self, said):
        answer = self.announce(said)
        assert answer.status == 200, f"not accepted: {answer}"
        return answer

    def refuses(self, said, *statuses):
        return refused(self.announce(said), *statuses)

    def get(self, agent_id):
        """What is known of this agent; nothing, if nobody may find it."""
        answer = self.ask("GET", f"/agents/{urllib.parse.quote(agent_id, safe='')}")
        if answer.status == 404:
            error(answer)
            return None
        assert answer.status == 200, answer
        return response(answer.body)

    def all(self):
        answer = self.ask("GET", "/agents")
        assert answer.status == 200 and isinstance(answer.body, list), answer
        return {it["agent_id"]: it for it in map(response, answer.body)}

    def finds(self, agent):
        assert self.get(agent.id) == agent.agent, f"{self.get(agent.id)} is not {agent.agent}"
        assert self.all().get(agent.id) == agent.agent

    def misses(self, agent):
        assert self.get(agent.id) is None and agent.id not in self.all()

    def gone(self, agent):
        """Waits until the agent is found no more; returns after how long."""
        began = time.monotonic()
        while self.get(agent.id):
            assert time.monotonic() - began < PATIENCE, f"{agent.id} does not go"
        return time.monotonic() - began

    def sign_off(self, agent_id):
        return self.ask("DELETE", f"/agents/{agent_id}")

    def operator(self, *words):
        return bub(self.folder, "agents", *words)

    def socket(self, token=None):
        return Socket(self.url, token or self.token)


def response(said):
    """The agent of a Response that found one."""
    assert said.keys() >= {"protocol_version", "agent", "matched"}, said
    assert said["protocol_version"] == "v1.0" and said["matched"] is True, said
    return said["agent"]


def error(answer):
    said = answer.body
    assert isinstance(said.get("message"), str) and said["message"], said
    assert isinstance(said.get("code"), str) and said["code"].startswith("Err"), said
    return said


def refused(answer, *statuses):
    """No, with one of these statuses, the code that goes with it and, where one may try again, when."""
    assert answer.status in statuses, f"wanted {statuses}: {answer.status} {answer.text[:500]}"
    said = error(answer)
    assert said["code"] == CODES.get(answer.status, said["code"]), said
    if answer.status in RETRY:
        assert answer.headers["Retry-After"] == RETRY[answer.status], answer.headers.items()
    return said["message"]


class Socket:
    """`/ws`: a byte that says what it is, and JSON."""

    def __init__(self, url, token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.socket = connect(url + "/ws", subprotocols=["agent-discovery"], additional_headers=headers)
        self.announced, self.passes_over = [], None
        assert self.socket.subprotocol == "agent-discovery", "the subprotocol was not agreed to"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, kind, said):
        self.socket.send(bytes([kind]) + json.dumps(said).encode())

    def announce(self, said):
        self.say(ANNOUNCE, said.signed() if isinstance(said, Agent) else said)

    def hear(self, kind):
        """The next frame of this kind; announcements that come before an answer are kept in `announced`."""
        while True:
            frame = self.socket.recv(timeout=PATIENCE)
            known = (ANNOUNCE, self.passes_over, kind)
            assert isinstance(frame, bytes) and frame[0] in known, f"wanted {kind}: {frame}"
            said = json.loads(frame[1:])
            if frame[0] == kind:
                return said
            if frame[0] == ANNOUNCE:
                self.announced.append(said["agent"])

    def query(self, capability, count=1, **more):
        """The agents found, of which there must be so many."""
        self.say(QUERY, {"protocol_version": "v1.0", "query": {"capability": capability, **more}})
        heard = [self.hear(RESPONSE) for _ in range(max(count, 1))]
        if count:
            return sorted(map(response, heard), key=lambda agent: agent["agent_id"])
        assert heard[0]["matched"] is False and heard[0]["protocol_version"] == "v1.0", heard
        return []
