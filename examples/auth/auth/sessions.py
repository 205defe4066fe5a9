"""Sessions of users who are logged in."""

import secrets
from dataclasses import dataclass

from auth.clock import DAY, Clock
from auth.errors import InvalidSession


@dataclass
class Session:
    """One login on one device."""

    key: str
    email: str
    created: float
    expires: float
    revoked: bool = False

    def is_active(self, now: float) -> bool:
        """Tell whether the session may still be used."""
        return not self.revoked or now < self.expires


class SessionStore:
    """Sessions by key; each use extends a session."""

    def __init__(self, clock: Clock, lifetime: float = DAY) -> None:
        self._clock = clock
        self._lifetime = lifetime
        self._sessions: dict[str, Session] = {}

    def open(self, email: str) -> Session:
        """Start a session for a user whose password was checked."""
        now = self._clock()
        session = Session(secrets.token_urlsafe(24), email, now, now + self._lifetime)
        self._sessions[session.key] = session
        return session

    def use(self, key: str) -> Session:
        """Return the session and extend it, or raise InvalidSession."""
        session = self._sessions.get(key)
        now = self._clock()
        if session is None or not session.is_active(now):
            raise InvalidSession("log in again")
        session.expires = now + self._lifetime
        return session

    def revoke(self, key: str) -> None:
        """End one session; an unknown key is no error."""
        session = self._sessions.get(key)
        if session is not None:
            session.revoked = True

    def revoke_all(self, email: str) -> int:
        """End every active session of a user and return how many there were."""
        ended = self.active(email)
        for session in ended:
            session.revoked = True
        return len(ended)

    def active(self, email: str) -> list[Session]:
        """Return the sessions of a user that may still be used, oldest first."""
        now = self._clock()
        found = [session for session in self._sessions.values() if session.email == email and session.is_active(now)]
        return sorted(found, key=lambda session: session.created)
