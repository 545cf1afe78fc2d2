"""A plugin of pytest: a test's report says how many seconds of the CPU its call took."""

from collections.abc import Generator
from time import process_time
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Time a test, whatever other plugins do about it."""
    start = process_time()
    try:
        return (yield)
    finally:
        item.user_properties.append(("seconds", process_time() - start))
