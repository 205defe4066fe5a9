"""Registration, login, sessions and permissions for a small service."""

from auth.errors import AuthError
from auth.service import AuthService

__all__ = ["AuthError", "AuthService"]
