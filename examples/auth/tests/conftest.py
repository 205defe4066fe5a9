import pytest

from auth import AuthService

PASSWORD = "correct-horse-7"


class FakeClock:
    def __init__(self, now=1_700_000_000.0):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def service(clock):
    return AuthService(secret=b"not-a-secret", clock=clock)


@pytest.fixture
def password():
    return PASSWORD


@pytest.fixture
def ada(service, password):
    return service.register("ada@example.org", password)
