"""Executors by their names, as commands take them: processes here, or the workers of a cluster."""

import argparse
import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

KINDS = "processes:N, dask:ADDRESS, mpi"


@contextmanager
def executor_of(name: str) -> Generator[Executor]:
    """The executor of a name, as long as it is used. Raises ValueError for none of KINDS, and
    ImportError where its package is missing."""
    kind, _, where = name.partition(":")
    if kind == "processes" and (where or "1").isdecimal() and where != "0":
        with ProcessPoolExecutor(int(where) if where else None) as executor:
            yield executor
    elif kind == "dask" and where:
        with _made("distributed", "Client", where) as client, client.get_executor() as executor:
            yield OnCluster(executor, client)
    elif name == "mpi":
        with _made("mpi4py.futures", "MPIPoolExecutor", path=_folders()) as executor:
            yield executor
    else:
        raise ValueError(f"expected an executor of {KINDS}, got '{name}'")


def _made(module: str, name: str, *arguments: Any, **settings: Any) -> Any:
    make: Callable[..., Any] = getattr(import_module(module), name)
    return make(*arguments, **settings)


class OnCluster(Executor):
    """The workers of a Dask cluster, which look for modules in the folders of this process, too: a
    script's own are in no package."""

    def __init__(self, executor: Executor, client: Any):
        self._executor, self._client = executor, client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call, whose functions may be the script's."""
        # Dask depends on cloudpickle.
        call = import_module("cloudpickle").dumps((fn, args, kwargs))
        return self._executor.submit(_call, _folders(), call)


def _folders() -> list[str]:
    return [os.path.abspath(folder) for folder in sys.path if os.path.isdir(folder or ".")]


def _call(folders: list[str], call: bytes) -> Any:
    sys.path += [folder for folder in folders if folder not in sys.path]
    function, arguments, settings = pickle.loads(call)
    return function(*arguments, **settings)


def workers_of(executor: Executor) -> int:
    """How many workers an executor has, as far as it says so: the standard library's and mpi4py's
    do, and Dask's by its cluster."""
    client = getattr(executor, "_client", None)
    if client is not None:
        return sum(client.nthreads().values()) or 1
    return getattr(executor, "_max_workers", None) or os.cpu_count() or 1


def in_order(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result]:
    """The results of a function of each item, in order; workers are sent only a few items more
    than they are at, and nothing new where the results are no longer asked for."""
    waiting = deque[Future[Result]]()
    try:
        for item in items:
            waiting.append(executor.submit(function, item))
            if len(waiting) > 2 * workers_of(executor):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def add_executor_option(parser: argparse.ArgumentParser, default: str) -> None:
    """`--executor`: who does the work, for `executor_of`; or `--jobs`, so many processes."""
    parser.add_argument(
        "--executor", metavar="NAME", default=default, help=f"{KINDS} (default: {default})"
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        dest="executor",
        type="processes:{}".format,
        help="short for processes:N",
    )
