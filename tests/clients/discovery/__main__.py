"""What a client of discovery must be able to rely on: python tests/clients/discovery URL SCENARIO DATA_FOLDER"""
import inspect
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import announcing  # noqa: E402
import belonging  # noqa: E402
import datagrams  # noqa: E402
import errors  # noqa: E402
import sockets  # noqa: E402
import tokens  # noqa: E402
import trusting  # noqa: E402

SCENARIOS = {
    name: scenario
    for module in (announcing, errors, tokens, trusting, sockets, datagrams, belonging)
    for name, scenario in inspect.getmembers(module, inspect.isfunction)
    if list(inspect.signature(scenario).parameters) == ["url", "folder"]
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*SCENARIOS, sep="\n")
    else:
        SCENARIOS[sys.argv[2]](sys.argv[1], sys.argv[3])
