"""The examples of docs/cutile.md and docs/triton.md run; a race is found where cuTile's says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from page_examples import consoles, ran

import tilewright as tw

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "cutile.md").read_text()


def _example(page: str) -> str:
    return re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)[0]


EXAMPLE = _example(PAGE)


@pytest.mark.parametrize("name", ["cutile.md", "triton.md"])
def test_the_example_prints_what_the_page_says(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page, path = (DOCS / name).read_text(), tmp_path / "add.py"
    path.write_text(_example(page))
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert f"$ python add.py\n{printed}" in page and printed


def test_its_race_is_found(tmp_path: Path):
    path = tmp_path / "add.py"
    path.write_text(EXAMPLE.replace("ct.store(c, (i,)", "ct.store(c, (0,)"))
    with pytest.raises(tw.ExecutionError) as caught:
        runpy.run_path(str(path), run_name="__main__")
    assert str(caught.value).replace(f"{tmp_path}/", "") in PAGE


def test_its_bytecode_runs_from_the_shell(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [behind] = re.findall(r"^```python\n(np\.save.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    Path("add.py").write_text(EXAMPLE + behind)
    runpy.run_path("add.py")
    a, b = np.load("a.npy"), np.load("b.npy")
    shown = consoles(re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
    assert len(shown) == 2
    for command, parts in shown:
        status, printed = ran(command)
        assert status is None, printed
        for part in parts:
            assert part in printed
        assert (np.load("c.npy") == a + b).all()
