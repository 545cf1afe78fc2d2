"""A plugin of pytest: a test's report says how many seconds of the CPU its call took, and how many
of them were Triton's front end, from Python to TTIR."""

from collections.abc import Generator
from importlib import import_module
from time import process_time
from typing import Any

import pytest

_FRONT_END = [0.0]


def pytest_collection_finish() -> None:
    """Time what Triton compiles from here on; what torch loads for its first comparison, sympy
    among it, is no test's time."""
    torch: Any = import_module("torch")
    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))
    compiler: Any = import_module("triton.compiler")
    compile = compiler.compile

    def timed(*args: Any, **named: Any) -> Any:
        start = process_time()
        try:
            return compile(*args, **named)
        finally:
            _FRONT_END[0] += process_time() - start

    compiler.compile = timed


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Time a test, whatever other plugins do about it."""
    start, _FRONT_END[0] = process_time(), 0.0
    try:
        return (yield)
    finally:
        item.user_properties.append(("seconds", process_time() - start))
        item.user_properties.append(("front_end", _FRONT_END[0]))
