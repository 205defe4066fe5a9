"""Accounts and where they are kept."""

from dataclasses import dataclass, field

from auth.errors import DuplicateUser, UnknownUser


@dataclass
class User:
    """One account; the email is kept in lower case."""

    email: str
    password_hash: str
    roles: set[str] = field(default_factory=set)


class UserStore:
    """Accounts by email, whatever case the email is written in."""

    def __init__(self) -> None:
        self._users: dict[str, User] = {}

    def add(self, email: str, password_hash: str) -> User:
        """Create an account without roles."""
        email = email.strip().lower()
        if email in self._users:
            raise DuplicateUser(email)
        user = User(email, password_hash)
        self._users[email] = user
        return user

    def find(self, email: str) -> User:
        """Return the account with this email."""
        email = email.strip()
        if email not in self._users:
            raise UnknownUser(email)
        return self._users[email]

    def with_role(self, role: str) -> list[User]:
        """Return the accounts that have a role, by email."""
        return sorted((user for user in self._users.values() if role in user.roles), key=lambda user: user.email)

    def __len__(self) -> int:
        return len(self._users)
