"""Draws the terminal picture of the README from a real run of the example.

python docs/picture.py docs/example.svg
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = ["fireloop-test", "--example", "auth", "fix failing auth tests"]
#: rich links web fonts; the picture has to work without a network.
FONT_FACE = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def main() -> int:
    """Run the example and write its output as one SVG file."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_STATE_HOME": f"{home}/state"}
        module = [sys.executable, "-m", "pytest_fireloop.cli.fireloop_test", *COMMAND[1:]]
        done = subprocess.run(module, env=environment, capture_output=True, text=True, check=True)
    console = Console(record=True, width=118, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - discarded
    console.print(Text('$ fireloop-test --example auth "fix failing auth tests"', style="bold"))
    for line in done.stdout.replace(home, "~").splitlines():
        style = "bold green" if line.startswith("verdict: green") else "dim" if line.startswith("  ") else ""
        console.print(Text(line, style=style), no_wrap=True, overflow="ellipsis")
    Path(sys.argv[1]).write_text(FONT_FACE.sub("", console.export_svg(title="fireloop-test")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
