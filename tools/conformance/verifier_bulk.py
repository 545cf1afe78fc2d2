"""The verifier in bulk: `tilewright check-ptx` as its users run it, a process for every target."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

_COMMAND = (sys.executable, "-m", "tilewright.tools.tilewright", "check-ptx", "--batch", "-")


def verdicts(lines: Sequence[str], target: str) -> list[bool]:
    """True where the verifier takes a line, for each: a mnemonic or a whole instruction."""
    return [answer["ok"] for answer in _asked(lines, target, "--brief")]


def reasons(lines: Sequence[str], target: str) -> list[str]:
    """Why the verifier rejects each line; "" where it does not."""
    return [answer["why"] or "" for answer in _asked(lines, target)]


def _asked(lines: Sequence[str], target: str, *options: str) -> list[dict[str, Any]]:
    if not lines:
        return []
    run = subprocess.run(
        [*_COMMAND, "--arch", target, *options],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"check-ptx gives up for {target}: {run.stderr}")
    said = [json.loads(line) for line in run.stdout.splitlines()]
    assert [answer["ptx"] for answer in said] == list(lines), "check-ptx answers line by line"
    return said
