"""The verifier in bulk: what `tilewright check-ptx` says of many lines."""

from collections.abc import Sequence

from tilewright.tools.instructions.judge import is_legal, why_illegal


def verdicts(lines: Sequence[str], target: str) -> list[bool]:
    """True where the verifier takes a line, for each: a mnemonic or a whole instruction."""
    return [bool(is_legal(line, target)) for line in lines]


def reasons(lines: Sequence[str], target: str) -> list[str]:
    """Why the verifier rejects each line; "" where it does not."""
    return [why_illegal(line, target) or "" for line in lines]
