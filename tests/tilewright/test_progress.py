"""The progress bar: on a terminal, where a run takes long."""

import io

from tilewright import progress
from tilewright.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_appears_after_two_seconds_and_leaves_no_trace(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    terminal = Terminal()
    bar = ProgressBar("blocks", stream=terminal)
    bar.update(1, 4)
    assert terminal.getvalue() == ""
    now[0] = 2.5
    bar.update(2, 4)
    drawn = f"\r[{'#' * 20}{'.' * 20}] 2/4 blocks, 2 s"
    assert terminal.getvalue() == drawn
    bar.update(3, 4)
    assert terminal.getvalue() == drawn
    bar.close()
    assert terminal.getvalue() == drawn + "\r" + " " * (len(drawn) - 1) + "\r"


def test_progress_is_for_terminals(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    terminal, file = Terminal(), io.StringIO()
    bars = [ProgressBar("blocks", stream=file), ProgressBar("blocks", stream=terminal, shown=False)]
    monkeypatch.setenv("TILEWRIGHT_PROGRESS", "0")
    bars.append(ProgressBar("blocks", stream=terminal))
    now[0] = 5.0
    for bar in bars:
        bar.update(1, 2)
        bar.close()
    assert not terminal.getvalue() and not file.getvalue()
