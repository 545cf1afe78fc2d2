"""A plugin of pytest: a test's report says how many seconds of the CPU its call took, and how many
of them were Triton's front end, from Python to TTIR."""

from collections.abc import Generator
from importlib import import_module
from time import process_time
from typing import Any

import pytest

tl: Any = import_module("triton.language")
_FRONT_END = [0.0]


def _copy(x, y):  # Triton reads annotations as its own
    tl.store(y, tl.load(x))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Time what Triton compiles from here on; what torch loads for its first comparison, sympy
    among it, and what is loaded for a first launch is no test's time."""
    torch: Any = import_module("torch")
    x, y = torch.zeros(2, 1, device=session.config.getoption("--device"))
    import_module("triton").jit(_copy)[(1,)](x, y)
    torch.testing.assert_close(x, y)
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
