"""The tokens of this door: JSON Web Tokens with scopes, made by the operator."""
import base64
import hmac
import json
import pathlib
import tempfile
import time
import uuid

import jwt as pyjwt
from aacp.client import Agent as Mailbox
from aacp.client import Broker
from cryptography.hazmat.primitives import serialization
from discovery.client import PATIENCE, Agent, Registry, ask, jwt, refused
from discovery.keys import Key


def calls(agent):
    return [("GET", "/agents", None), ("GET", f"/agents/{agent.id}", None), ("POST", "/agents", agent.signed()),
            ("DELETE", f"/agents/{agent.id}", None)]


def scopes(url, folder):
    """403 for a scope that is too small; reading and writing are two."""
    agent = Agent()
    reads, writes, both = (Registry(url, folder, *scopes) for scopes in (["read"], ["write"], ["read", "write"]))
    assert reads.all() == {} and reads.get(agent.id) is None
    refused(reads.announce(agent), 403)
    refused(reads.sign_off(agent.id), 403)
    refused(writes.ask("GET", "/agents"), 403)
    refused(writes.ask("GET", f"/agents/{agent.id}"), 403)
    both.misses(agent)
    writes.accepts(agent)
    reads.finds(agent)
    both.finds(agent)
    assert writes.sign_off(agent.id).status in (200, 202, 204)
    reads.misses(agent)


def unauthorized(url, folder):
    """401 without a token that is ours: none, half of one, one of another kind, one that somebody made up."""
    registry, agent = Registry(url, folder), Agent()
    good = registry.token
    head, claims, signature = good.split(".")
    claimed = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    none = part({"alg": "none", "typ": "JWT"})
    more = part(claimed | {"exp": claimed["exp"] + 10_000})
    mailbox = Mailbox.issued(url, folder)
    made_up = [pyjwt.encode(claimed, secret, algorithm="HS256") for secret in ("secret", " ", "0" * 64)]
    wrong = ["", "x", "a.b.c", good[:-4], f"{head}.{claims}", f"{head}.{claims}.", f"{head}.{more}.{signature}",
             f"{none}.{claims}.", f"{none}.{claims}.{signature}", f"{none}.{more}.", mailbox.token, good + "A",
             *made_up, f"{part({'alg': 'HS512', 'typ': 'JWT'})}.{claims}.{signature}", "x" * 20_000, f"{good}.{good}"]
    for method, path, body in calls(agent):
        refused(ask(url, method, path, body), 401)
        refused(ask(url, method, f"{path}?token={good}", body), 401)
        refused(ask(url, method, path, body, Authorization=f"Basic {good}"), 401)
        for token in wrong:
            answer = ask(url, method, path, body, token)
            assert answer.status == 401 or (len(token) > 10_000 and answer.status == 431), f"{token[:80]}: {answer}"
    # What is wrong with the body is nobody's business who may not be here.
    refused(ask(url, "POST", "/agents", "{"), 401)
    registry.misses(agent)


def part(said):
    return base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()


def expired(url, folder):
    """A token is good until its time is over, and not a second longer."""
    token = jwt(folder, "read", ttl=2)
    expires = pyjwt.decode(token, options={"verify_signature": False})["exp"]
    assert 0 <= expires - time.time() <= 3, expires
    began = time.monotonic()
    while (answer := ask(url, "GET", "/agents", token=token)).status == 200:
        assert time.time() < expires + 1, "no leeway"
        assert time.monotonic() - began < PATIENCE
    refused(answer, 401)
    assert time.time() >= expires - 1
    refused(ask(url, "GET", f"/agents/{uuid.uuid4()}", token=token), 401)


def claims(url, folder):
    """What the operator's tokens say: the scopes that were asked for, and until when."""
    said = pyjwt.decode(jwt(folder, "read", "write"), options={"verify_signature": False})
    scope = said["scope"].split() if isinstance(said["scope"], str) else said["scope"]
    assert sorted(scope) == ["discover:read", "discover:write"], said
    assert said["exp"] > time.time(), said
    header = pyjwt.get_unverified_header(jwt(folder, "read"))
    assert header["alg"] != "none", header


def other_issuers(url, folder):
    """Keys of others that the operator names: each counts for one algorithm, and nothing else of it does."""
    del url, folder
    issuer, secret = Key("rsa"), "a secret that is long enough to be one, or so"
    with tempfile.TemporaryDirectory() as elsewhere:
        pem, text = pathlib.Path(elsewhere, "issuer.pem"), pathlib.Path(elsewhere, "secret")
        pem.write_text(issuer.pem)
        text.write_text(secret)
        named = [f'[[jwt.keys]]\nfile = "{pem}"\nalgorithm = "RS256"\n']
        named += [f'[[jwt.keys]]\nfile = "{text}"\nalgorithm = "HS256"\n']
        with Broker("".join(named)) as broker:
            tries_issuers(broker.url, issuer, secret)


def tries_issuers(url, issuer, secret):
    private = issuer.private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )

    def status(claims, key, algorithm, **header):
        token = pyjwt.encode(claims, key, algorithm=algorithm, headers=header)
        return ask(url, "GET", "/agents", token=token).status
    # The specification's own sample has no end.
    read, later = {"scope": "discover:read"}, {"exp": int(time.time()) + 100}
    for key, algorithm in ((private, "RS256"), (secret, "HS256")):
        assert status(read, key, algorithm) == 200, algorithm
        assert status(read | later, key, algorithm) == 200, algorithm
        assert status(read | {"exp": int(time.time()) - 1}, key, algorithm) == 401, f"{algorithm}: it is over"
        assert status(read | {"nbf": int(time.time()) + 100}, key, algorithm) == 401, f"{algorithm}: not yet"
        assert status({"scope": "discover:write"}, key, algorithm) == 403, algorithm
        assert status({}, key, algorithm) == 403, f"{algorithm}: no scope at all"
    for key, algorithm in ((private, "PS256"), (private, "RS512"), (secret, "HS512"), ("another" * 9, "HS256")):
        assert status(read, key, algorithm) == 401, f"{algorithm} is not what the key is for"
    # The public key is no secret, whatever a token says of itself.
    forged = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(read)}"
    for known in (issuer.pem, issuer.pem.strip(), issuer.bare):
        signature = hmac.new(known.encode(), forged.encode(), "sha256").digest()
        token = f"{forged}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
        refused(ask(url, "GET", "/agents", token=token), 401)
