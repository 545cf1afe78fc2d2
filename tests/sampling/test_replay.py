"""The replay of tests on an executor."""

from __future__ import annotations

import pytest
from replay import main

HERE = "tests/silicon/test_fixtures.py"


def test_a_replay(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"{HERE}::test_every_scalar_form_was_recorded", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.endswith("1 tests in 1 batches, of which 0 failed\n")


def test_what_is_no_test() -> None:
    with pytest.raises(SystemExit):
        main([f"{HERE}::test_nothing"])
