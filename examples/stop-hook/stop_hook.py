"""A `Stop` hook: the agent goes on while `pytest --fire-loop` says that tests fail and the loop gets somewhere."""

import json
import os
import subprocess
import sys

#: Tests fail, or a file cannot be imported: there is something to mend.
GO_ON = {1, 2}
SAID = {
    10: "the loop gets nowhere; a person should look at it",
    11: "only a person can help",
    13: "the green run cannot be believed; a person should look at it",
}
LINES = 40


def main() -> int:
    """Return 2 to send the agent on, and 0 to let it stop."""
    question = json.load(sys.stdin)
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or question.get("cwd") or os.getcwd()
    command = ["pytest", "--fire-loop", "--fire-loop-test-edits=forbid", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode in GO_ON:
        tail = "\n".join(done.stdout.splitlines()[-LINES:])
        sys.stderr.write(f"The tests are not green yet. Mend the product, not the tests, and go on.\n\n{tail}\n")
        return 2
    if done.returncode:
        why = SAID.get(done.returncode, "the tests could not be run")
        print(json.dumps({"systemMessage": f"pytest --fire-loop ended with {done.returncode}: {why}"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
