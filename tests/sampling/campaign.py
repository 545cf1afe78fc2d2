"""Trials by the thousand on many processes: seeds of several kinds, in batches, until there were
enough of them or the time is up. What fails is written down as it comes.

A trial takes a kind and its seeds and gives the seeds that fail, each with the reason.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

from tilewright.executors import add_executor_option, executor_of, workers_of

Trial = Callable[[str, Sequence[int]], list[tuple[int, str]]]
Batch = tuple[str, range]


class _Late(BaseException):
    """The time of a block is up; raised by another thread: workers of clusters run trials in
    threads, which no signal reaches."""


class _Watcher:
    """A thread that looks every 0.2 s at the blocks whose time runs, of all threads of a process: a
    thread for each block, and even the clock of one, would cost more than most mutants do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: dict[int, int] = {}
        self._ends: dict[int, float] = {}
        threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, seconds: int) -> None:
        """So many seconds of its processor after it is seen, this thread is late."""
        with self._lock:
            self._seconds[threading.get_ident()] = seconds

    def end(self) -> None:
        """This thread is not late any more, or has become so by now."""
        with self._lock:
            for waiting in (self._seconds, self._ends):
                waiting.pop(threading.get_ident(), None)

    def _watch(self) -> None:
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        while True:
            time.sleep(0.2)
            with self._lock:
                for thread, seconds in [*self._seconds.items()]:
                    now = time.clock_gettime(time.pthread_getcpuclockid(thread))
                    if now > self._ends.setdefault(thread, now + seconds):
                        del self._seconds[thread]
                        raise_in(ctypes.c_ulong(thread), ctypes.py_object(_Late))


@cache
def _watcher(process: int) -> _Watcher:
    """That of a process: a fork has no threads."""
    return _Watcher()


@contextmanager
def in_time(seconds: int) -> Iterator[None]:
    """Raises TimeoutError, which says where, after so many seconds of this processor: others may
    keep the machine busy."""

    watcher = _watcher(os.getpid())
    try:
        watcher.begin(seconds)
        try:
            yield
        finally:
            watcher.end()
    except _Late as late:
        where = traceback.format_tb(late.__traceback__)[-1].strip().split("\n")[0]
        raise TimeoutError(where) from None


def add_options(parser: argparse.ArgumentParser, what: str, folder: str) -> None:
    """How much, how fast, and where to."""
    parser.add_argument("--count", type=int, help=f"{what} in all (1000, or what --seconds allow)")
    parser.add_argument("--seconds", type=float, help="begin nothing after so many")
    parser.add_argument("--first", type=int, default=0, help="the first seed of each kind")
    add_executor_option(parser, "processes:2")
    parser.add_argument(
        "--failures", type=Path, default=Path(f"build/{folder}/failures.jsonl"),
        help="a JSON line for each that fails: kind, seed, reason",
    )  # fmt: skip


def _tried(
    setup: Callable[[], None] | None, trial: Trial, kind: str, seeds: Sequence[int]
) -> list[tuple[int, str]]:
    """A batch, in a process that is set up."""
    if setup is not None:
        setup()
    return trial(kind, seeds)


@dataclass
class Campaign:
    """The trials of one run, by kind."""

    trial: Trial
    options: argparse.Namespace
    batch: int = 25
    setup: Callable[[], None] | None = None
    tried: Counter[str] = field(default_factory=Counter[str])
    seeds: dict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[int]](list)
    )

    def run(self, kinds: Sequence[str]) -> int:
        """Try all, and print a line for each kind and each reason; the number of reasons."""
        self.options.failures.parent.mkdir(parents=True, exist_ok=True)
        self.options.failures.write_text("")
        batches = self._batches(kinds)
        started = time.monotonic()
        while self._some(batches, started):
            pass
        print(" " * 60, end="\r", file=sys.stderr)
        self._report(kinds, time.monotonic() - started)
        return len(self.seeds)

    def _batches(self, kinds: Sequence[str]) -> Iterator[Batch]:
        """The kinds in turn; of each as many seeds."""
        total = self.options.count
        if total is None:
            total = 1000 if self.options.seconds is None else None
        shares = [None if total is None else total // len(kinds) + (place < total % len(kinds))
                  for place in range(len(kinds))]  # fmt: skip
        for number in count():
            done = number * self.batch
            more = False
            for kind, share in zip(kinds, shares, strict=True):
                size = self.batch if share is None else min(self.batch, share - done)
                if size > 0:
                    more = True
                    first = self.options.first + done
                    yield kind, range(first, first + size)
            if not more:
                return

    def _some(self, batches: Iterator[Batch], started: float) -> bool:
        """Try batches until there are no more, or a process dies: then go on in new ones."""
        limit = self.options.seconds
        waiting: dict[Future[list[tuple[int, str]]], Batch] = {}
        with executor_of(self.options.executor) as pool:
            while True:
                while len(waiting) < 2 * workers_of(pool):
                    late = limit is not None and time.monotonic() - started > limit
                    following = None if late else next(batches, None)
                    if following is None:
                        break
                    waiting[self._begun(pool, following)] = following
                if not waiting:
                    return False
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    batch = waiting.pop(future)
                    try:
                        self._note(*batch, future.result())
                    except BrokenExecutor:
                        for kind, seeds in (batch, *waiting.values()):
                            alone = f"a process died among {seeds[0]} to {seeds[-1]}, or beside"
                            self._note(kind, seeds, [(seeds[0], alone)])
                        return True
                print(f"{self.tried.total()} tried, {len(self.seeds)} reasons", end="\r",
                      file=sys.stderr, flush=True)  # fmt: skip

    def _begun(self, pool: Executor, batch: Batch) -> Future[list[tuple[int, str]]]:
        """A batch that a worker tries; where one has died before it is sent, it fails as others."""
        try:
            return pool.submit(_tried, self.setup, self.trial, *batch)
        except BrokenExecutor as error:
            future = Future[list[tuple[int, str]]]()
            future.set_exception(error)
            return future

    def _note(self, kind: str, seeds: Sequence[int], failed: list[tuple[int, str]]) -> None:
        self.tried[kind] += len(seeds)
        for seed, reason in failed:
            if (kind, reason) not in self.seeds:
                print(f"{kind}, seed {seed}: {reason}", file=sys.stderr, flush=True)
            self.seeds[kind, reason].append(seed)
            with self.options.failures.open("a") as file:
                file.write(json.dumps({"kind": kind, "seed": seed, "reason": reason}) + "\n")

    def _report(self, kinds: Sequence[str], seconds: float) -> None:
        failed: Counter[str] = Counter()
        for (kind, reason), seeds in sorted(self.seeds.items(), key=lambda item: -len(item[1])):
            failed[kind] += len(seeds)
            print(f"{kind}: {len(seeds)} x {reason} (seeds {', '.join(map(str, seeds[:3]))})")
        for kind in kinds:
            print(f"{kind:20} {self.tried[kind]:8} tried {failed[kind]:6} failed")
        print(
            f"{self.tried.total()} tried in {seconds:.0f} s by {self.options.executor}, "
            f"{failed.total()} failed for {len(self.seeds)} reasons"
            + (f": {self.options.failures}" if self.seeds else "")
        )
