"""A plugin of pytest: a test's report says how many launches it made by Triton itself."""

from collections.abc import Generator
from importlib import import_module
from itertools import count
from typing import Any

import pytest

launches = count()


def pytest_configure() -> None:
    """Count what NVIDIA's launcher is asked for."""
    launcher: Any = import_module("triton.backends.nvidia.driver").CudaLauncher
    own = launcher.__call__

    def launch(self: Any, *args: Any) -> None:
        next(launches)
        own(self, *args)

    launcher.__call__ = launch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Count a test's launches; asking takes one."""
    before = next(launches)
    try:
        return (yield)
    finally:
        item.user_properties.append(("launches", next(launches) - before - 1))
