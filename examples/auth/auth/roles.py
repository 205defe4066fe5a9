"""Roles, what they permit, and which roles they build on."""

from collections.abc import Iterable

from auth.errors import UnknownRole


class Roles:
    """A set of roles in which a role has its own permissions and those of its parents."""

    def __init__(self) -> None:
        self._own: dict[str, frozenset[str]] = {}
        self._parents: dict[str, tuple[str, ...]] = {}

    def define(self, name: str, permissions: Iterable[str], parents: Iterable[str] = ()) -> None:
        """Add a role; its parents must be defined before it."""
        parents = tuple(parents)
        for parent in parents:
            self._require(parent)
        self._own[name] = frozenset(permissions)
        self._parents[name] = parents

    def permissions(self, name: str) -> frozenset[str]:
        """Return all permissions of a role, inherited ones included."""
        self._require(name)
        granted: set[str] = set(self._own[name])
        for parent in self._parents[name]:
            granted |= self.permissions(parent)
        return frozenset(granted)

    def allows(self, names: Iterable[str], permission: str) -> bool:
        """Tell whether one of the roles grants the permission; `posts:*` grants `posts:edit`."""
        area = permission.partition(":")[0]
        wanted = {permission, f"{area}:*"}
        return any(wanted & self.permissions(name) for name in names)

    def _require(self, name: str) -> None:
        if name not in self._own:
            raise UnknownRole(name)


def default_roles() -> Roles:
    """Return the roles that a new service starts with."""
    roles = Roles()
    roles.define("reader", ["posts:read"])
    roles.define("author", ["posts:write"], parents=["reader"])
    roles.define("admin", ["posts:*", "users:*"], parents=["author"])
    return roles
