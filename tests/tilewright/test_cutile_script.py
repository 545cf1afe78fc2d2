"""`python -m tilewright.cutile_script`: what it says without a script."""

from __future__ import annotations

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


def test_cutile_is_told_of_a_gpu() -> None:
    from cuda.tile import _cext

    with cutile_answers((10, 0)):
        assert _cext.get_compute_capability() == (10, 0)
