"""What all tests share: the assembler as an oracle, and how many examples a law is tried on."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from inspect import unwrap
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from covering import THOROUGH, shown
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from without_checks import without_checks

from tilewright import levels, pipeline
from tilewright.launch.ptxas import PtxasReport, assemble, find_ptxas

# Examples are drawn anew each time, so that runs add up. `make conformance` draws many at once.
# How many draws a strategy throws away is no fault of what is tested.
_LENIENT = [HealthCheck.filter_too_much, HealthCheck.too_slow]
for _name, _examples in (("each-run", 15), ("thorough", 500)):
    settings.register_profile(
        _name, max_examples=_examples, deadline=None, suppress_health_check=_LENIENT
    )
settings.load_profile("each-run")
if not THOROUGH:
    # Not tried: the numbers that 800 modules are written with, which each worker would parse.
    providers._get_local_constants = lambda: providers._local_constants
gc.disable()  # until all is loaded
pytest_plugins = ("pytester",)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", help="that of runs that name none")


def pytest_configure(config: pytest.Config) -> None:
    if (engine := config.getoption("engine")) is not None:
        from tilewright import execution

        for function in (execution.interpret, execution.run):
            unwrap(function).__kwdefaults__["engine"] = engine


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = shown(items)


def pytest_collection_finish() -> None:
    """Leave what is loaded by now to itself, and collect seldom: IR is full of cycles, and tests
    make little of it at a time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def pytest_sessionfinish() -> None:
    """What is left goes with the process: nobody has to look for what could be freed."""
    gc.freeze()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker tells of a test once: of what is around it only what went wrong."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """What Triton, or we, kept of another run, or of another checkout, is none of these tests'."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TRITON_CACHE_DIR", "TILEWRIGHT_CACHE_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("kept")))
        yield


@pytest.fixture(scope="session", autouse=True)
def verified_kernels() -> Generator[None]:
    """The kernels that Tile IR is compiled to are verified, in every test."""
    first, *others = pipeline.PIPELINE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "PIPELINE", (replace(first, verified=True), *others))
        yield


@pytest.fixture
def monkeypatch(monkeypatch: pytest.MonkeyPatch) -> Generator[pytest.MonkeyPatch]:
    """pytest's, after each of whose patches `interpret` lowers a text anew."""
    patch = monkeypatch.setattr

    def setattr(*args: Any, **options: Any) -> None:
        patch(*args, **options)
        forget()

    def forget() -> None:
        levels._read.cache_clear()
        levels._compiled.clear()

    monkeypatch.setattr = setattr  # type: ignore[method-assign]
    yield monkeypatch
    forget()


@pytest.fixture
def unchecked() -> Generator[None]:
    """Lower what the checks reject, so that the interpreter must find it."""
    with without_checks():
        yield


@pytest.fixture(scope="session")
def ptxas() -> Callable[..., PtxasReport]:
    """`ptxas.assemble`. Without a ptxas, every test that asks for it is an error; so is a text
    whose wgmmas ptxas mends (C7514 and its like), which without optimizing it may do to any.
    """
    find_ptxas()

    def assembled(
        ptx: str, arch: str, *, verbose: bool = True, options: Sequence[str] = ()
    ) -> PtxasReport:
        report = assemble(ptx, arch, verbose=verbose, options=options)
        assert "-O0" in options or not report.mended, report.mended
        return report

    return assembled
