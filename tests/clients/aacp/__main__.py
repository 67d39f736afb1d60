"""What a client of AACP must be able to rely on: python tests/clients/aacp URL SCENARIO DATA_FOLDER"""
import inspect
import sys

import contract
import exchange
import mailboxes
import opened
import settling
import survival
import trouble

SCENARIOS = {
    name: scenario
    for module in (exchange, mailboxes, settling, trouble, opened, survival, contract)
    for name, scenario in inspect.getmembers(module, inspect.isfunction)
    if list(inspect.signature(scenario).parameters) == ["url", "folder"]
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*SCENARIOS, sep="\n")
    else:
        SCENARIOS[sys.argv[2]](sys.argv[1], sys.argv[3])
