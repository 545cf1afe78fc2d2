"""A process that answers the playground's questions, and is ended where one takes too long."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any


class Unanswered(Exception):
    """A question that took more time, or more memory, than it may."""


class Worker:
    """One process; a question at a time. `seconds` is what one may take, `memory` in bytes."""

    def __init__(self, seconds: float, memory: int):
        self._seconds, self._memory, self._lock = seconds, memory, Lock()
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._memory), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, name: str, fields: dict[str, str]) -> dict[str, Any]:
        """The answer to a question. Raises Unanswered."""
        with self._lock:
            try:
                self._ours.send((name, fields))
                if self._ours.poll(self._seconds):
                    return self._ours.recv()
                raise Unanswered(f"expected an answer within {self._seconds:g} seconds, got none")
            except (EOFError, OSError):
                self.stop()
                self._start()
                raise Unanswered("the process that answers ended, out of memory perhaps") from None
            except Unanswered:
                self.stop()
                self._start()
                raise

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._ours.close()


def _serve(pipe: Connection, memory: int) -> None:
    """Answer until nobody asks any more."""
    with suppress(ImportError):  # there is no such limit on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    from tilewright.tools.output import last_words
    from tilewright.tools.playground.answers import ANSWERS

    with suppress(EOFError, KeyboardInterrupt):
        while True:
            name, fields = pipe.recv()
            try:
                answer = ANSWERS[name](**fields)
            except Exception as error:
                answer = {"error": last_words(error)}
            pipe.send(answer)
