"""What collaborating agents must be able to rely on: python tests/clients/collab URL SCENARIO"""
import asyncio
import inspect
import sys

import registry
import talking
import topics
import trouble

SCENARIOS = {
    name: scenario
    for module in (talking, topics, registry, trouble)
    for name, scenario in inspect.getmembers(module, inspect.iscoroutinefunction)
    if list(inspect.signature(scenario).parameters) == ["url"]
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*SCENARIOS, sep="\n")
    else:
        asyncio.run(SCENARIOS[sys.argv[2]](sys.argv[1]))
