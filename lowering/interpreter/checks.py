"""The things that a run looks for beside what no kernel may do, by words of `check`.

padding     of Tile IR: what loads leave undefined, where it takes effect; without it they give
            zeros. Threads may use nothing that is undefined anyway
integers    of Tile IR: results of arithmetic that it leaves undefined, as of a division by zero, an
            error of threads anyway; of threads: shifts of `arith` that are none
nan         the first NaN, or infinity, that no operand of the op that makes it has
unwritten   elements of outputs that no block wrote
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray
from tilewright.lowering.interpreter.errors import Fault
from tilewright.source.diagnostic import ExecutionError, at

ASKED: ContextVar[Collection[str]] = ContextVar("what a run of threads looks for", default=())


@contextmanager
def asking(words: Collection[str]) -> Generator[None]:
    """Runs of threads look for these things."""
    token = ASKED.set(words)
    try:
        yield
    finally:
        ASKED.reset(token)


_NO_NUMBERS: dict[str, Callable[[Any], Any]] = {"NaN": np.isnan, "an infinity": np.isinf}


def check_finite(given: Iterable[AnyArray], made: Iterable[AnyArray]) -> None:
    """Raise Fault, with the row, for the first NaN, else infinity, in floats that are made, [rows
    or 1, ...], where those that are given have none in that row, nor a NaN."""
    operands, results, excused = list(given), list(made), np.zeros(1, np.bool_)
    for words, test in _NO_NUMBERS.items():
        for values in operands:
            excused = excused | test(values).reshape(len(values), -1).any(axis=1)
        for values in results:
            wrong = test(values) & ~excused.reshape(-1, *(1,) * (values.ndim - 1))
            if wrong.any():
                row, *index = np.argwhere(wrong)[0].tolist()
                where = f" at index ({', '.join(map(str, index))})" if index else ""
                raise Fault(f"expected finite numbers, got {words}{where}", row)


def check_written(
    op: Operation, unwritten: Iterable[tuple[str, BoolArray]], source: str | None
) -> None:
    """Raise ExecutionError for the first element of an output of a kernel that no block wrote."""
    for name, missing in unwritten:
        index = tuple(np.argwhere(missing)[0].tolist())
        count = int(np.count_nonzero(missing))
        message = (
            f"expected every element of '{name}' to be written, got {count} of {missing.size} that "
            f"no block wrote, the first at {index}"
        )
        raise ExecutionError(str(at(op.location, message, source)))
