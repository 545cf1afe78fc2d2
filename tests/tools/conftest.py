"""A folder to run commands in, and pages without machine code."""

import numpy as np
import pytest


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder, with x and y of 100 floats, to run in."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.arange(100, dtype=np.float32))
    np.save("y.npy", np.full(100, 0.5, dtype=np.float32))
    return tmp_path


@pytest.fixture
def no_machine_code(monkeypatch):
    """Pages show no machine code: nvdisasm takes a second."""
    monkeypatch.setattr("tilewright.tools.report.levels.sass", lambda *_: [])
    monkeypatch.setattr("tilewright.tools.report.page.sass", lambda *_: [])
