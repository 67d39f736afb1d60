"""A peer made with python-zeroconf.

    python tests/clients/mdns announce ADDRESS NAME PORT KEY=VALUE…
    python tests/clients/mdns browse ADDRESS

ADDRESS is the one of the interface to speak on. Ends, with a goodbye, when its input ends.
"""

import ipaddress
import json
import socket
import sys

from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, ServiceListener, Zeroconf

SERVICE = "_agentsc._tcp.local."


class Printer(ServiceListener):
    """Prints who comes and who goes, a line each."""

    def add_service(self, zc: Zeroconf, kind: str, name: str) -> None:
        info = zc.get_service_info(kind, name)
        if info is None:
            print("unresolved", name, flush=True)
            return
        said = {key.decode(): (value or b"").decode() for key, value in info.properties.items()}
        where = [f"{address}:{info.port}" for address in info.parsed_addresses()]
        print("added", name, *where, json.dumps(said), flush=True)

    def update_service(self, zc: Zeroconf, kind: str, name: str) -> None:
        print("updated", name, flush=True)

    def remove_service(self, zc: Zeroconf, kind: str, name: str) -> None:
        print("removed", name, flush=True)


def main() -> None:
    task, address, *rest = sys.argv[1:]
    zc = Zeroconf(interfaces=[address], ip_version=IPVersion.V4Only)
    if task == "announce":
        name, port, *pairs = rest
        info = ServiceInfo(
            SERVICE,
            f"{name}.{SERVICE}",
            addresses=[ipaddress.ip_address(address).packed],
            port=int(port),
            properties=dict(pair.split("=", 1) for pair in pairs),
            server=f"{socket.gethostname()}-{name}.local.",
        )
        zc.register_service(info)
        print("announced", flush=True)
    else:
        ServiceBrowser(zc, SERVICE, Printer())
        print("browsing", flush=True)
    sys.stdin.read()
    zc.close()


main()
