"""What the operator does, by the console's HTTP API."""
import json
import pathlib
import urllib.request


def console(url, folder, method, **params):
    token = pathlib.Path(folder, "admin-token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = json.dumps({"method": method, "params": params}).encode()
    request = urllib.request.Request(url.replace("ws", "http", 1) + "/console/call", body, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def rule(url, folder, caller, provider, capability, effect):
    edit = {"caller": caller, "provider": provider, "capability": capability, "effect": effect}
    return console(url, folder, "editRules", edits=[edit])
