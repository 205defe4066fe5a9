from auth.roles import Roles, default_roles


def test_role_has_its_own_permissions():
    assert default_roles().permissions("reader") == {"posts:read"}


def test_role_inherits_from_its_parents():
    assert default_roles().permissions("author") == {"posts:read", "posts:write"}


def test_star_grants_everything_in_its_area_only():
    roles = Roles()
    roles.define("editor", ["posts:*"])
    assert roles.allows(["editor"], "posts:publish")
    assert not roles.allows(["editor"], "users:delete")
