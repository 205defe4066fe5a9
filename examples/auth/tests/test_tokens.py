import pytest

from auth.errors import InvalidToken, TokenExpired
from auth.tokens import TokenSigner


@pytest.fixture
def signer(clock):
    return TokenSigner(b"not-a-secret", clock, lifetime=600)


def test_token_names_its_subject(signer):
    assert signer.read(signer.issue("ada@example.org", "invite"), "invite") == "ada@example.org"


def test_token_is_valid_just_before_it_expires(signer, clock):
    token = signer.issue("ada@example.org", "invite")
    clock.advance(599)
    assert signer.read(token, "invite") == "ada@example.org"


def test_token_is_refused_at_the_moment_it_expires(signer, clock):
    token = signer.issue("ada@example.org", "invite")
    clock.advance(600)
    with pytest.raises(TokenExpired):
        signer.read(token, "invite")


def test_token_is_refused_long_after_it_expired(signer, clock):
    token = signer.issue("ada@example.org", "invite")
    clock.advance(6000)
    with pytest.raises(TokenExpired):
        signer.read(token, "invite")


def test_token_for_another_purpose_is_refused(signer):
    with pytest.raises(InvalidToken, match="not a token for reset"):
        signer.read(signer.issue("ada@example.org", "invite"), "reset")


def test_token_signed_with_another_secret_is_refused(signer, clock):
    forged = TokenSigner(b"another-secret", clock).issue("ada@example.org", "invite")
    with pytest.raises(InvalidToken, match="signature"):
        signer.read(forged, "invite")
