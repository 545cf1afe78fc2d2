"""A process that answers questions about texts, and is ended where one takes too long: the
playground and the language server stay what they are, whatever a text does."""

import multiprocessing
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from time import monotonic
from typing import Any

MEMORY = 4 << 30
"""The bytes that a process may take."""
STARTING = 60
"""Seconds until a process has imported what it needs."""


class Unanswered(Exception):
    """A question that took more time, or more memory, than it may."""


class Worker:
    """One process; a question at a time. `seconds` is what one may take, `memory` in bytes;
    `answers` the module whose ANSWERS are the functions that are asked for."""

    def __init__(self, seconds: float, memory: int, answers: str):
        self._seconds, self._memory, self._answers = seconds, memory, answers
        self._lock, self._closed = Lock(), False
        self._asked: tuple[object, float] | None = None
        self._start()

    def _start(self) -> None:
        # Where there is a fork server, it alone imports the answers, and each process is its copy.
        methods = multiprocessing.get_all_start_methods()
        method = "forkserver" if "forkserver" in methods else "spawn"
        context: Any = multiprocessing.get_context(method)
        context.set_forkserver_preload([self._answers])
        self._ours, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_serve, args=(theirs, self._memory, self._answers), daemon=True
        )
        self._process.start()
        theirs.close()
        self._ready = False

    def ask(self, name: str, fields: Mapping[str, Any], about: object = None) -> Any:
        """The answer to a question; what goes wrong in it is {"error": ...}. Raises Unanswered."""
        with self._lock:
            try:
                if not self._ready:
                    self._receive(STARTING)
                    self._ready = True
                self._ours.send((name, fields))
                self._asked = about, monotonic()
                return self._receive(self._seconds)
            except (EOFError, OSError):
                self._again()
                raise Unanswered("the process that answers ended, out of memory perhaps") from None
            except Unanswered:
                self._again()
                raise
            finally:
                self._asked = None

    def _receive(self, seconds: float) -> Any:
        if not self._ours.poll(seconds):
            raise Unanswered(f"expected an answer within {seconds:g} seconds, got none")
        return self._ours.recv()

    def _again(self) -> None:
        """A new process in place of this one."""
        self._end()
        if not self._closed:
            self._start()

    def interrupt(self, about: object, seconds: float) -> None:
        """End the question that is asked about something, where it has taken so long."""
        asked = self._asked
        if asked is not None and asked[0] == about and monotonic() - asked[1] > seconds:
            self._process.kill()

    def stop(self) -> None:
        """End the process, and answer nothing more."""
        self._closed = True
        self._process.kill()
        with self._lock:
            self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._ours.close()


def _serve(pipe: Connection, memory: int, answers: str) -> None:
    """Answer until nobody asks any more."""
    # What a text prints is no part of the protocol that the parent may speak there.
    os.dup2(2, 1)
    with suppress(ImportError):  # there is no such limit on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    from tilewright.tools.output import last_words

    functions: Mapping[str, Callable[..., Any]] = import_module(answers).ANSWERS
    with suppress(EOFError, KeyboardInterrupt):
        pipe.send("ready")
        while True:
            name, fields = pipe.recv()
            try:
                answer = functions[name](**fields)
            except Exception as error:
                answer = {"error": last_words(error)}
            pipe.send(answer)
