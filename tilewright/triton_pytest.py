"""A plugin of pytest: tests with Triton kernels that expect a GPU run on the CPU, as they stand.

    pytest -p tilewright.triton_pytest python/test/unit/language/test_core.py
    pytest -p tilewright.triton_pytest --tilewright gpu python/test/unit/language/test_core.py

Launches run by `tilewright.triton.on_cpu`, and what is asked for on "cuda" is kept on the CPU; or
they are compiled, by `on_gpu`. Races are warnings, and masked loads without `other` leave zeros, as
on NVIDIA's chips. Each test's report says how many launches it made, and the summary how many there
were. Needs what `tilewright.triton_script` needs.
"""

import gc
from collections.abc import Generator
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import pytest

from tilewright.pipeline import verified
from tilewright.triton_script import stand_in

_YOUNG = 30_000
"""Objects that are made before the garbage collector looks at them: some ten kernels."""


def launches() -> int:
    """How many there were."""
    return import_module("triton.runtime.driver").driver.active.launches


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--tilewright`: where kernels run."""
    parser.addoption(
        "--tilewright", choices=("gpu", "cpu"), default="cpu", help="where kernels run"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Stand in for the GPU from before a conftest.py asks for it to the end."""
    stack, gpu = ExitStack(), early_config.known_args_namespace.tilewright == "gpu"
    stack.enter_context(stand_in(gpu=gpu, races="warn", check="integers"))
    early_config.add_cleanup(stack.close)


def pytest_collection_finish() -> None:
    """Load what kernels are translated with, which is no test's time, and let the garbage collector
    pass over it and what was collected, which stays; it looks seldom at what tests make, all of
    which is new."""
    verified("tt.func public @none() { tt.return }")
    gc.freeze()
    gc.set_threshold(_YOUNG)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Count a test's launches."""
    before = launches()
    try:
        return (yield)
    finally:
        item.user_properties.append(("launches", launches() - before))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many launches ran here."""
    terminalreporter.write_line(f"tilewright: {launches()} launches")
