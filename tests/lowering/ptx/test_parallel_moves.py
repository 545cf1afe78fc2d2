"""Moves that happen at once, one after another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from tilewright.lowering.ptx.parallel_moves import in_order
from tilewright.lowering.ptx.registers import RegisterMove

PLACES = range(12)


def spares() -> Callable[[str], str]:
    numbers = count()
    return lambda kind: f"spare{next(numbers)}"


@given(st.dictionaries(st.sampled_from(PLACES), st.sampled_from((*PLACES, None))))
def test_each_register_gets_what_its_source_had(sources: dict[int, int | None]) -> None:
    moves = [
        RegisterMove("b32", f"r{dest}", "7" if source is None else f"r{source}")
        for dest, source in sources.items()
        if dest != source
    ]
    registers = {f"r{place}": f"r{place}" for place in PLACES} | {"7": "7"}
    wanted = registers | {move.dest: move.source for move in moves}
    used = 0
    for _, dest, source in in_order(moves, spares()):
        registers[dest] = registers[source]
        used += 1
    assert {name: registers[name] for name in wanted} == wanted
    assert used - len(moves) <= len(moves) // 2, "one spare a circle"


def test_a_chain_of_any_length_moves_from_its_end() -> None:
    """In time that grows with it: every move waits for the one behind it in the list."""
    chain = [RegisterMove("b32", f"r{n + 1}", f"r{n}") for n in range(20_000)]
    assert list(in_order(chain, spares())) == chain[::-1]
