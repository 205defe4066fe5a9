import pytest

from auth.errors import InvalidSession
from auth.sessions import SessionStore


@pytest.fixture
def store(clock):
    return SessionStore(clock, lifetime=100)


def test_open_session_can_be_used(store):
    session = store.open("ada@example.org")
    assert store.use(session.key).email == "ada@example.org"


def test_unknown_key_is_refused(store):
    with pytest.raises(InvalidSession):
        store.use("no-such-key")


def test_session_ends_with_its_lifetime(store, clock):
    session = store.open("ada@example.org")
    clock.advance(100)
    with pytest.raises(InvalidSession):
        store.use(session.key)


def test_each_use_extends_a_session(store, clock):
    session = store.open("ada@example.org")
    clock.advance(60)
    store.use(session.key)
    clock.advance(60)
    assert store.use(session.key) is session


def test_revoked_session_is_refused(store):
    session = store.open("ada@example.org")
    store.revoke(session.key)
    with pytest.raises(InvalidSession):
        store.use(session.key)


def test_revoking_all_spares_other_users(store):
    store.open("ada@example.org")
    store.open("ada@example.org")
    other = store.open("bob@example.org")
    assert store.revoke_all("ada@example.org") == 2
    assert store.use(other.key) is other


def test_active_sessions_come_oldest_first(store, clock):
    first = store.open("ada@example.org")
    clock.advance(1)
    second = store.open("ada@example.org")
    assert store.active("ada@example.org") == [first, second]
