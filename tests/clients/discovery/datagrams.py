"""UDP: the same messages, one a datagram, to a group; a question is answered to whoever asked."""
import json
import pathlib
import re
import socket
import time

from discovery.client import ANNOUNCE, PATIENCE, Agent, Registry, response
from discovery.keys import Key


class Line:
    """Speaks to the group that the broker's settings name, on the loopback interface."""

    def __init__(self, folder):
        settings = pathlib.Path(folder, "switchboard.toml").read_text()
        group, port = re.search(r'udp = "([^:"]+):(\d+)"', settings).groups()
        self.group = (group, int(port))

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(PATIENCE)
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, said):
        said = said.signed() if isinstance(said, Agent) else said
        self.socket.sendto(said if isinstance(said, bytes) else json.dumps(said).encode(), self.group)

    def ask(self, capability, **more):
        self.say({"protocol_version": "v1.0", "query": {"capability": capability, **more}})

    def hear(self):
        return json.loads(self.socket.recv(65_536))

    def hears_of(self, agent):
        """Asks for it until it is found: a datagram is no promise, and an announcement takes its time."""
        capability = next(iter(agent.agent["capabilities"]))
        for _ in range(200):
            self.ask(capability, agent_id=agent.id)
            heard = self.hear()
            if heard["matched"]:
                assert response(heard) == agent.agent, heard
                return
        raise AssertionError(f"{agent.id} is not found")


def udp_announces(url, folder):
    """Announced by a datagram, found by every way; announced by HTTP, found by datagram."""
    registry = Registry(url, folder)
    with Line(folder) as anna, Line(folder) as bert, registry.socket() as watcher:
        agent = Agent("metrics")
        anna.say(agent)
        bert.hears_of(agent)
        registry.finds(agent)
        assert watcher.hear(ANNOUNCE)["agent"] == agent.agent
        store = Agent("store", key=Key("rsa"))
        registry.accepts(store)
        bert.ask("store")
        assert response(bert.hear()) == store.agent
        bert.ask("nothing")
        assert bert.hear()["matched"] is False
        anna.socket.settimeout(0.05)
        try:
            raise AssertionError(f"heard what another asked for: {anna.socket.recv(65_536)}")
        except TimeoutError:
            pass


def udp_several(url, folder):
    """Each match is a datagram."""
    registry = Registry(url, folder)
    agents = [Agent("metrics") for _ in range(3)]
    for agent in agents:
        registry.accepts(agent)
    with Line(folder) as line:
        line.ask("metrics")
        found = [response(line.hear())["agent_id"] for _ in agents]
        assert sorted(found) == sorted(agent.id for agent in agents), found


def udp_garbage(url, folder):
    """What is no message is ignored, and so is one that nobody signed or that is too large."""
    registry, agent = Registry(url, folder), Agent("metrics")
    registry.accepts(agent)
    with Line(folder) as line:
        forged = Agent()
        for said in [b"", b"\0", b"{", b"[]", b"\xff" * 500, b"{}", b"7", b"\x02{}", b"[" * 20_000, b" " * 65_000,
                     json.dumps({"protocol_version": "v1.0", "query": 7}).encode(),
                     forged.unsigned(), forged.signed() | {"signature": "AAAA"},
                     Agent(agent_id=agent.id), Agent(metadata={"x": "x" * 63_000})]:
            line.say(said)
        line.ask("metrics", agent_id=agent.id)
        heard = line.hear()
        while heard.get("agent", {}) != agent.agent:  # it may say what it holds of some of that
            assert not heard.get("matched"), heard
            heard = line.hear()
        registry.finds(agent)
        registry.misses(forged)


def udp_waits(url, folder):
    """Who announces itself by datagram waits for the operator like everybody else."""
    registry, agent = Registry(url, folder), Agent("metrics")
    with Line(folder) as line:
        line.say(agent)
        line.ask("metrics")
        assert line.hear()["matched"] is False
        began = time.monotonic()
        while agent.id not in registry.operator("announced", "--json"):
            assert time.monotonic() - began < PATIENCE, "the operator does not see who waits"
            line.say(agent)
        registry.misses(agent)
        registry.operator("admit", agent.id)
        line.hears_of(agent)
