"""`python -m tilewright.cutile_script`: what it says without a script."""

from __future__ import annotations

import pytest

from tilewright.cutile_script import main


def test_a_script_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["no/such/script.py"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    assert "expected a script, got no/such/script.py" in capsys.readouterr().err
