"""`python -m tilewright.cutile_script`: what it says without a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.cutile.device import cutile_answers
from tilewright.cutile_script import main


def test_a_script_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["no/such/script.py"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    assert "expected a script, got no/such/script.py" in capsys.readouterr().err


def test_a_capability_has_two_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--capability", "blackwell", __file__])
    assert ended.value.code == 2
    assert "expected a compute capability such as 10.0" in capsys.readouterr().err


SUITE = """
import cuda.tile as ct, numpy as np, pytest
from cuda.tile._compile import _find_compiler_bin

@ct.kernel
def one(a):
    ct.store(a, (ct.bid(0),), ct.ones((4,), ct.float32))

@pytest.mark.parametrize("blocks", [1, 2])
def test_ones(blocks):
    a = np.zeros(4 * blocks, np.float32)
    for _ in range(blocks):
        ct.launch(None, (blocks,), one, (a,))
    assert a.all()

def test_rank():
    with pytest.raises(ct.TileTypeError):
        ct.launch(None, (1,), one, (np.zeros((2, 2)),))
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_suite_says_how_many_launches_were_ours(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "test_ones.py").write_text(SUITE)
    plugin = ["-p", "tilewright.cutile_pytest", "--tilewright", "cpu"]
    command = [sys.executable, "-m", "pytest", *plugin, *workers, "-q", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "3 passed" in ran.stdout and "4 launches by tilewright" in ran.stdout, ran.stdout


def test_cutile_is_told_of_a_gpu() -> None:
    from cuda.tile import _cext

    with cutile_answers((10, 0)):
        assert _cext.get_compute_capability() == (10, 0)
