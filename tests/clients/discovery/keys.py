"""Keys of every kind, how their owners sign, and the two texts that are signed.

A signature is over `rfc8785(agent)`, as the specification has it, or over `dumps(agent)`, which is what
its own sample code computes; the two differ in letters beyond ASCII and in fractions.
"""
import base64
import datetime
import decimal
import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa


def rfc8785(value):
    """Canonical JSON: keys in order of UTF-16, numbers as JavaScript writes them."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{rfc8785(key)}:{rfc8785(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(rfc8785, value)) + "]"
    if isinstance(value, float):
        return javascript(value)
    return json.dumps(value, ensure_ascii=False)


def javascript(number):
    """The shortest digits that mean this number, which Python finds too, with the point where ECMA-262 puts it."""
    sign, digits, exponent = decimal.Decimal(repr(number)).normalize().as_tuple()
    digits, point = "".join(map(str, digits)), len(digits) + exponent
    if number == 0:
        return "0"
    if 0 < point <= 21:
        text = digits.ljust(point, "0")
        text = text[:point] + ("." + text[point:] if text[point:] else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{point - 1:+}"
    return "-" * sign + text


def dumps(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


PSS = padding.PSS
MAKE = {
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
    "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "p521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "k256": lambda: ec.generate_private_key(ec.SECP256K1()),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
}


def pss(salt, hashing):
    return PSS(padding.MGF1(hashing), salt)


SCHEMES = {  # each way in which a key of this kind may sign
    "rsa": {
        f"{name} {hashing.name}": (scheme(hashing), hashing)
        for hashing in (hashes.SHA256(), hashes.SHA384(), hashes.SHA512())
        for name, scheme in {
            "pkcs1": lambda hashing: padding.PKCS1v15(),
            "pss max": lambda hashing: pss(PSS.MAX_LENGTH, hashing),
            "pss digest": lambda hashing: pss(PSS.DIGEST_LENGTH, hashing),
            "pss none": lambda hashing: pss(0, hashing),
        }.items()
    },
    "p256": {"sha256": (ec.ECDSA(hashes.SHA256()),)},
    "p384": {"sha384": (ec.ECDSA(hashes.SHA384()),), "sha256": (ec.ECDSA(hashes.SHA256()),)},
    "ed25519": {"plain": ()},
    "p521": {"sha512": (ec.ECDSA(hashes.SHA512()),)},
    "k256": {"sha256": (ec.ECDSA(hashes.SHA256()),)},
}


class Key:
    """A key pair; `scheme` is one of its kind's, the first unless told."""

    def __init__(self, kind="p256"):
        self.kind, self.private = kind, MAKE[kind]()

    def sign(self, text, scheme=None):
        schemes = SCHEMES[self.kind]
        how = schemes[scheme] if scheme else next(iter(schemes.values()))
        return base64.b64encode(self.private.sign(text.encode(), *how)).decode()

    def public(self, encoding=serialization.Encoding.PEM):
        return self.private.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)

    @property
    def pem(self):
        return self.public().decode()

    @property
    def bare(self):
        """As in the specification's example: the base64 alone."""
        return base64.b64encode(self.public(serialization.Encoding.DER)).decode()

    @property
    def certificate(self):
        """The key in a certificate that it signed itself."""
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "agent")])
        now, day = datetime.datetime.now(datetime.timezone.utc), datetime.timedelta(days=1)
        built = x509.CertificateBuilder(name, name, self.private.public_key(), 1, now - day, now + day)
        made = built.sign(self.private, hashes.SHA256())
        return made.public_bytes(serialization.Encoding.PEM).decode()
