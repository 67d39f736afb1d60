"""Loaded by schemathesis: what is allowed is tried with names that exist, so that more than refusals come of it.

Ids alone are exchanged, and a response says what it answers; everything else stays as schemathesis made it.
"""
import os

import schemathesis

OWN, OTHER = os.environ["AACP_OWN_ID"], os.environ["AACP_OTHER_ID"]
NAMES = {"sender_agent_id": OWN, "receiver_agent_id": OTHER, "agent_id": OWN}


def known(values):
    return {name: NAMES.get(name, value) for name, value in values.items()} if isinstance(values, dict) else values


@schemathesis.hook
def map_body(context, body):
    body = known(body)
    if isinstance(body, dict) and body.get("message_type") == "response" and not body.get("correlation_id"):
        body["correlation_id"] = "nothing that was asked"
    return body


@schemathesis.hook
def map_path_parameters(context, parameters):
    return known(parameters)


@schemathesis.hook
def map_query(context, query):
    """Nobody waits for long."""
    return query | {"wait": 0} if query and "wait" in query else query
