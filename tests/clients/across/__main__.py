"""One agent, every door: python tests/clients/across URL SCENARIO DATA_FOLDER"""
import asyncio
import inspect
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import announced  # noqa: E402
import pairs  # noqa: E402
import ruled  # noqa: E402
import stories  # noqa: E402

SCENARIOS = {
    name: scenario
    for module in (pairs, stories, ruled, announced)
    for name, scenario in inspect.getmembers(module, inspect.iscoroutinefunction)
    if list(inspect.signature(scenario).parameters) == ["url", "folder"]
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*SCENARIOS, sep="\n")
    else:
        asyncio.run(SCENARIOS[sys.argv[2]](sys.argv[1], sys.argv[3]))
