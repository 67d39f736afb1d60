"""The description that the door gives of itself, and whether it is true: schemathesis asks what it allows."""
import os
import pathlib
import subprocess
import sys
import tempfile

from client import BASE, PATIENCE, Agent

TOLD = ["--max-examples", "25", "--seed", "1", "--generation-database", "none", "--no-color", "--phases"]
TOLD += ["coverage,fuzzing", "--request-timeout", str(PATIENCE), "--continue-on-failure"]


def conforms(agent, *arguments, **environment):
    address = agent.url.replace("ws", "http", 1) + f"{BASE}/openapi.json"
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", address]
    command += ["--header", f"Authorization: Bearer {agent.token}", *TOLD, *arguments]
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    with tempfile.TemporaryDirectory() as elsewhere:  # it leaves files where it works
        done = subprocess.run(command, cwd=elsewhere, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def contract_kept(url, folder):
    """Whatever it says is allowed is answered as it says."""
    own, other = Agent.issued(url, folder), Agent.issued(url, folder)
    names = {"AACP_OWN_ID": own.id, "AACP_OTHER_ID": other.id, "SCHEMATHESIS_HOOKS": "contract_hooks"}
    conforms(own, "--mode", "positive", "--checks", "all", **names)
    assert other.page()[1] > 10, "hardly anything was sent"


def contract_broken(url, folder):
    """Whatever it says is not allowed is refused as it says."""
    conforms(Agent.issued(url, folder), "--mode", "negative", "--checks", "all")
