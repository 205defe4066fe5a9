"""Slows down people who guess passwords."""

from auth.clock import MINUTE, Clock

MAX_FAILURES = 3
WINDOW = 15 * MINUTE


class Lockout:
    """Counts failed logins by account, and forgets them after a while."""

    def __init__(self, clock: Clock, max_failures: int = MAX_FAILURES, window: float = WINDOW) -> None:
        self._clock = clock
        self._max_failures = max_failures
        self._window = window
        self._failures: dict[str, tuple[int, float]] = {}

    def record_failure(self, account: str) -> None:
        """Count one more failed login; the window starts again."""
        count = self._recent(account)
        self._failures[account] = (count + 1, self._clock())

    def record_success(self, account: str) -> None:
        """Forget the account's failures."""
        self._failures.pop(account, None)

    def attempts_left(self, account: str) -> int:
        """Return how many more failures the account may have before it is locked."""
        return max(0, self._max_failures - self._recent(account))

    def is_locked(self, account: str) -> bool:
        """Tell whether logins are refused at the moment."""
        return self.attempts_left(account) <= 1

    def _recent(self, account: str) -> int:
        count, last = self._failures.get(account, (0, 0.0))
        if self._clock() - last >= self._window:
            return 0
        return count
