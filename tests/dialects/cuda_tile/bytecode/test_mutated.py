"""Files that went wrong give one diagnostic with the byte, or a module that is written again."""

from __future__ import annotations

import os
import re

import pytest
from bytecode_kernels import LOWEST, kernel, located
from mutations import mutated

from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.source.diagnostic import CompileError

COUNT = int(os.environ.get("TILEWRIGHT_MUTATIONS", "120"))
"""How many files; 10000 take two minutes."""


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return [write_bytecode(located(kernel(file))) for file in LOWEST]


def outcome(data: bytes) -> str:
    """What reading gives: a diagnostic, or nothing."""
    try:
        module = read_bytecode(data, "x.tileirbc")
    except CompileError as error:
        text = str(error)
        assert text.count("error: ") == 1, text
        assert re.search(r"\(at byte \d+\)$", text, re.MULTILINE), text
        return text
    again = read_bytecode(write_bytecode(module), "again.tileirbc")
    assert module.is_structurally_equivalent(again)
    assert str(module)
    return ""


def test_mutated_files(files: list[bytes]):
    found = [outcome(mutated(seed, files)) for seed in range(COUNT)]
    kinds = {re.sub(r"\d+", "N", text.partition("error: ")[2]) for text in found}
    # The mutations are worth something where some go through and the others fail in many places.
    assert "" in kinds
    assert len(kinds) > 30


def test_truncated_files(files: list[bytes]):
    for first, data in enumerate(files):
        for size in range(first, len(data), 31):
            assert outcome(data[:size]), size
