import pytest

from auth.errors import WeakPassword
from auth.passwords import check_policy, hash_password, needs_rehash, verify_password


def test_right_password_is_accepted():
    assert verify_password("correct-horse-7", hash_password("correct-horse-7"))


def test_wrong_password_is_refused():
    assert not verify_password("wrong-horse-7", hash_password("correct-horse-7"))


@pytest.mark.parametrize("password", ["short-1", "onlyletters", "12345678901"])
def test_weak_password_is_refused(password):
    with pytest.raises(WeakPassword):
        check_policy(password)


def test_password_of_exactly_the_minimum_length_is_accepted():
    check_policy("abcdefghi1")


def test_hash_with_fewer_iterations_needs_a_rehash():
    assert needs_rehash(hash_password("correct-horse-7", iterations=10))
    assert not needs_rehash(hash_password("correct-horse-7"))
