"""Password policy and hashing."""

import hashlib
import hmac
import os

from auth.errors import WeakPassword

ALGORITHM = "pbkdf2_sha256"
ITERATIONS = 200  # far too few for a product
SALT_BYTES = 16
MIN_LENGTH = 10


def check_policy(password: str) -> None:
    """Raise WeakPassword unless the password is long enough and mixes letters with digits."""
    if len(password) < MIN_LENGTH:
        raise WeakPassword(f"at least {MIN_LENGTH} characters are needed")
    if password.isalpha() or not any(character.isalpha() for character in password):
        raise WeakPassword("letters and other characters are both needed")


def hash_password(password: str, iterations: int = ITERATIONS) -> str:
    """Return `algorithm$iterations$salt$digest`, with a fresh salt."""
    salt = os.urandom(SALT_BYTES)
    digest = _digest(password, salt, iterations)
    return "$".join([ALGORITHM, str(iterations), salt.hex(), digest.hex()])


def verify_password(password: str, encoded: str) -> bool:
    """Tell whether the password matches a hash made by `hash_password`."""
    algorithm, iterations, salt, digest = encoded.split("$")
    if algorithm != ALGORITHM:
        raise ValueError(f"unsupported algorithm: {algorithm}")
    expected = _digest(password, bytes.fromhex(salt), int(iterations))
    return hmac.compare_digest(expected.hex(), digest)


def needs_rehash(encoded: str, iterations: int = ITERATIONS) -> bool:
    """Tell whether the hash was made with fewer iterations than are wanted now."""
    return int(encoded.split("$")[1]) < iterations


def _digest(password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode("utf-8"), salt, iterations)
