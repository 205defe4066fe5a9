"""Numbers as people read them."""

import os


def shown(number: float) -> str:
    """Return a number with one decimal, in the style that is asked for."""
    mark = "," if os.environ.get("STYLE") == "comma" else "."
    return f"{number:.1f}".replace(".", mark)
