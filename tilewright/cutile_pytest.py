"""A plugin of pytest that runs a suite of cuTile kernels by tilewright, without tileiras:

    python -m pytest -p tilewright.cutile_pytest cutile-python/test
    python -m pytest -p tilewright.cutile_pytest --tilewright cpu cutile-python/test

Every `ct.launch` goes through `on_gpu` or `on_cpu`, as in `tilewright.cutile_script`; a test's
`user_properties` say how many were asked for while it ran, the end of the report how many in all,
those of xdist's workers too.
"""

from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tilewright.cutile.launches import Launches
from tilewright.cutile_script import stand_in

_PROPERTY = "tilewright"
_STACK = pytest.StashKey[ExitStack]()
_LAUNCHES = pytest.StashKey[Launches]()
_TOTAL = Launches()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--tilewright`: where kernels run."""
    parser.addoption(
        "--tilewright", choices=("gpu", "cpu"), default="gpu", help="where kernels run"
    )


# Before a suite's own conftest asks for the GPU.
@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Let cuTile launch by tilewright from here on."""
    stack = early_config.stash[_STACK] = ExitStack()
    gpu = early_config.known_args_namespace.tilewright == "gpu"
    early_config.stash[_LAUNCHES] = stack.enter_context(stand_in(gpu=gpu, check="integers"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give cuTile its own launches back."""
    config.stash[_STACK].close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Count the launches of a test."""
    launches = item.config.stash[_LAUNCHES]
    before = launches.count
    try:
        return (yield)
    finally:
        item.user_properties.append((_PROPERTY, launches.count - before))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what tests asked for, here or in a worker."""
    if report.when == "call":
        _TOTAL.count += sum(
            value
            for name, value in report.user_properties
            if name == _PROPERTY and isinstance(value, int)
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many launches were tilewright's."""
    terminalreporter.write_line(f"{_TOTAL.count} launches by tilewright")
