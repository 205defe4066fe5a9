"""The authentication service: what the rest of an application calls."""

from typing import Optional

from auth.clock import Clock
from auth.errors import AccountLocked, InvalidCredentials, PermissionDenied, UnknownUser
from auth.lockout import Lockout
from auth.passwords import check_policy, hash_password, verify_password
from auth.roles import Roles, default_roles
from auth.sessions import Session, SessionStore
from auth.tokens import TokenSigner
from auth.users import User, UserStore

RESET = "reset-password"


class AuthService:
    """Ties accounts, sessions, tokens and roles together."""

    def __init__(self, secret: bytes, clock: Clock, roles: Optional[Roles] = None) -> None:
        self.users = UserStore()
        self.sessions = SessionStore(clock)
        self.roles = roles or default_roles()
        self._lockout = Lockout(clock)
        self._tokens = TokenSigner(secret, clock)

    def register(self, email: str, password: str, role: str = "reader") -> User:
        """Create an account with one role."""
        check_policy(password)
        self.roles.permissions(role)
        user = self.users.add(email, hash_password(password))
        user.roles.add(role)
        return user

    def login(self, email: str, password: str) -> Session:
        """Open a session, or raise InvalidCredentials or AccountLocked."""
        try:
            user = self.users.find(email)
        except UnknownUser:
            raise InvalidCredentials("wrong email or password") from None
        if self._lockout.is_locked(user.email):
            raise AccountLocked("too many failed logins, try again later")
        if not verify_password(password, user.password_hash):
            self._lockout.record_failure(user.email)
            raise InvalidCredentials("wrong email or password")
        self._lockout.record_success(user.email)
        return self.sessions.open(user.email)

    def logout(self, key: str) -> None:
        """End a session."""
        self.sessions.revoke(key)

    def current_user(self, key: str) -> User:
        """Return the user of a session."""
        return self.users.find(self.sessions.use(key).email)

    def require(self, key: str, permission: str) -> User:
        """Return the user of a session who has the permission, or raise PermissionDenied."""
        user = self.current_user(key)
        if not self.roles.allows(user.roles, permission):
            raise PermissionDenied(permission)
        return user

    def change_password(self, key: str, old: str, new: str) -> None:
        """Replace the password of a user who is logged in and knows the old one."""
        user = self.current_user(key)
        if not verify_password(user.password_hash, old):
            raise InvalidCredentials("the old password is wrong")
        self._set_password(user, new)

    def request_reset(self, email: str) -> str:
        """Return a token that allows one user to set a new password."""
        return self._tokens.issue(self.users.find(email).email, RESET)

    def reset_password(self, token: str, new: str) -> None:
        """Set a new password with a token from `request_reset`, and end all sessions of the user."""
        user = self.users.find(self._tokens.read(token, RESET))
        self._set_password(user, new)
        self.sessions.revoke_all(user.email)

    def _set_password(self, user: User, password: str) -> None:
        check_policy(password)
        user.password_hash = hash_password(password)
        self._lockout.record_success(user.email)
