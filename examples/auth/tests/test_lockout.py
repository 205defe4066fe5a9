import pytest

from auth.lockout import Lockout


@pytest.fixture
def lockout(clock):
    return Lockout(clock, max_failures=3, window=60)


def fail(lockout, times):
    for _ in range(times):
        lockout.record_failure("ada")


def test_new_account_has_every_attempt_left(lockout):
    assert lockout.attempts_left("ada") == 3


def test_each_failure_takes_one_attempt(lockout):
    fail(lockout, 1)
    assert lockout.attempts_left("ada") == 2


def test_account_is_open_until_the_last_attempt(lockout):
    fail(lockout, 2)
    assert not lockout.is_locked("ada")


def test_account_is_locked_after_the_last_attempt(lockout):
    fail(lockout, 3)
    assert lockout.is_locked("ada")


def test_lock_ends_with_the_window(lockout, clock):
    fail(lockout, 3)
    clock.advance(60)
    assert not lockout.is_locked("ada")


def test_success_forgets_the_failures(lockout):
    fail(lockout, 2)
    lockout.record_success("ada")
    fail(lockout, 1)
    assert not lockout.is_locked("ada")
