import pytest

from auth.errors import AccountLocked, DuplicateUser, InvalidCredentials, InvalidSession, PermissionDenied

WRONG = "wrong-horse-7"


def test_login_opens_a_session(service, ada, password):
    session = service.login("ada@example.org", password)
    assert service.current_user(session.key) is ada


def test_login_ignores_the_case_of_the_email(service, ada, password):
    assert service.login("Ada@Example.org", password).email == "ada@example.org"


def test_email_can_be_registered_once_only(service, ada, password):
    with pytest.raises(DuplicateUser):
        service.register(" ADA@example.org", password)


def test_login_with_a_wrong_password_is_refused(service, ada):
    with pytest.raises(InvalidCredentials):
        service.login("ada@example.org", WRONG)


def test_login_of_an_unknown_user_is_refused(service, password):
    with pytest.raises(InvalidCredentials):
        service.login("bob@example.org", password)


def test_third_failure_locks_the_account(service, ada, password):
    for _ in range(3):
        with pytest.raises(InvalidCredentials):
            service.login("ada@example.org", WRONG)
    with pytest.raises(AccountLocked):
        service.login("ada@example.org", password)


def test_logout_ends_the_session(service, ada, password):
    session = service.login("ada@example.org", password)
    service.logout(session.key)
    with pytest.raises(InvalidSession):
        service.current_user(session.key)


def test_reader_may_not_write(service, ada, password):
    session = service.login("ada@example.org", password)
    with pytest.raises(PermissionDenied):
        service.require(session.key, "posts:write")


def test_changed_password_is_the_one_that_counts(service, ada, password):
    session = service.login("ada@example.org", password)
    service.change_password(session.key, old=password, new="battery-staple-8")
    assert service.login("ada@example.org", "battery-staple-8")
    with pytest.raises(InvalidCredentials):
        service.login("ada@example.org", password)


def test_change_with_a_wrong_old_password_is_refused(service, ada, password):
    session = service.login("ada@example.org", password)
    with pytest.raises(InvalidCredentials):
        service.change_password(session.key, old=WRONG, new="battery-staple-8")


def test_reset_sets_a_new_password(service, ada):
    service.reset_password(service.request_reset("ada@example.org"), "battery-staple-8")
    assert service.login("ada@example.org", "battery-staple-8")
