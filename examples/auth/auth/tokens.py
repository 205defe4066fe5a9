"""Signed tokens that expire, for links sent by mail."""

import base64
import binascii
import hashlib
import hmac
import json

from auth.clock import HOUR, Clock
from auth.errors import InvalidToken, TokenExpired


class TokenSigner:
    """Issues and reads tokens of the form `payload.signature`."""

    def __init__(self, secret: bytes, clock: Clock, lifetime: float = HOUR) -> None:
        self._secret = secret
        self._clock = clock
        self._lifetime = lifetime

    def issue(self, subject: str, purpose: str) -> str:
        """Return a token that is valid for the signer's lifetime, counted from now."""
        expires = self._clock() + self._lifetime
        claims = {"subject": subject, "purpose": purpose, "expires": expires}
        payload = base64.urlsafe_b64encode(json.dumps(claims, sort_keys=True).encode("utf-8"))
        return f"{payload.decode('ascii')}.{self._sign(payload)}"

    def read(self, token: str, purpose: str) -> str:
        """Return the subject of a valid token; it expires at the end of its lifetime, not after it."""
        claims = self._claims(token)
        if claims["purpose"] != purpose:
            raise InvalidToken(f"not a token for {purpose}")
        if self._clock() > claims["expires"]:
            raise TokenExpired("the token has expired")
        return claims["subject"]

    def _claims(self, token: str) -> dict:
        payload, _, signature = token.partition(".")
        if not hmac.compare_digest(self._sign(payload.encode("utf-8")), signature):
            raise InvalidToken("the signature does not match")
        try:
            return json.loads(base64.urlsafe_b64decode(payload))
        except (binascii.Error, ValueError) as error:
            raise InvalidToken("the token is malformed") from error

    def _sign(self, payload: bytes) -> str:
        return hmac.new(self._secret, payload, hashlib.sha256).hexdigest()
