"""A progress bar on a terminal, for runs that take long enough to wonder."""

import os
import sys
from time import monotonic
from typing import TextIO

_PATIENCE = 2.0  # seconds before the bar appears
_INTERVAL = 0.1  # seconds between two drawings
_WIDTH = 40


class ProgressBar:
    """A bar on stderr, drawn where that is a terminal, the run takes longer than two seconds, and
    the environment does not say `TILEWRIGHT_PROGRESS=0`."""

    def __init__(self, unit: str, *, shown: bool = True, stream: TextIO | None = None):
        self._stream = sys.stderr if stream is None else stream
        self._unit = unit
        wanted = shown and os.environ.get("TILEWRIGHT_PROGRESS") != "0"
        self._shown = wanted and self._stream.isatty()
        self._begun = monotonic()
        self._next = self._begun + _PATIENCE
        self._drawn = 0

    def update(self, done: int, total: int) -> None:
        """Say how far the run is."""
        if not self._shown or monotonic() < self._next:
            return
        self._next = monotonic() + _INTERVAL
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        line = f"[{bar}] {done}/{total} {self._unit}, {monotonic() - self._begun:.0f} s"
        self._stream.write("\r" + line.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(line)

    def close(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0
