"""What can go wrong, by name."""


class AuthError(Exception):
    """Base class of every refusal."""


class InvalidCredentials(AuthError):
    """The email or the password is wrong; which of them is not told."""


class AccountLocked(AuthError):
    """Too many failed logins in a short time."""


class DuplicateUser(AuthError):
    """The email is registered already."""


class UnknownUser(AuthError):
    """No account has this email."""


class UnknownRole(AuthError):
    """No role has this name."""


class WeakPassword(AuthError):
    """The password does not satisfy the policy."""


class InvalidToken(AuthError):
    """The token is malformed, forged, or was used before."""


class TokenExpired(InvalidToken):
    """The token was valid once."""


class InvalidSession(AuthError):
    """The session is unknown, revoked or over."""


class PermissionDenied(AuthError):
    """The user's roles do not grant the permission."""
