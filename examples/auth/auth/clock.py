"""Time, passed in so that tests can move it."""

from collections.abc import Callable

#: Returns the seconds since some fixed moment.
Clock = Callable[[], float]

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
