"""`tilewright bank-conflicts`: a row for each access of shared memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_files import EXAMPLES
from run_command import refused

from tilewright.tools.tilewright import main

EXAMPLE = EXAMPLES / "tile_gemm_sm80.mlir"


def rows(text: str) -> list[list[str]]:
    lines = text.splitlines()[1:]
    return [line.split() for line in lines if not line.startswith("none")]


def test_the_example_has_none(capsys: pytest.CaptureFixture[str]):
    main(["bank-conflicts", str(EXAMPLE)])
    out = capsys.readouterr().out
    assert out.endswith("\nnone of 6 accesses conflicts\n")
    found = rows(out)
    assert {row[2] for row in found} == {"reads", "writes"} and len(found) == 6
    assert {tuple(row[-2:]) for row in found} == {("1", "-")}


def test_without_a_swizzle_one_is_proposed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plain = EXAMPLE.read_text().replace('"S<2,3,3> o 0 o (128,32,3):(32,1,4096)"',
                                        '"(128,32,3):(32,1,4096)"')  # fmt: skip
    path = tmp_path / "plain.mlir"
    path.write_text(plain)
    main(["bank-conflicts", str(path)])
    out = capsys.readouterr().out
    assert "none" not in out
    found = rows(out)
    loads = [row for row in found if row[2] == "reads"]
    line = plain.splitlines().index("    cute.copy(%s2rA, %nowA, %tXrA)") + 1
    assert loads[0][0] == str(line) and loads[0][-3:] == ["4", "S<2,3,3>:", "1"]


def test_what_is_no_module_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "wrong.mlir"
    path.write_text("cute.copy(")
    assert "wrong.mlir:1" in refused(capsys, main, ["bank-conflicts", str(path)])


def test_coordinates_that_are_partitioned_are_no_memory(capsys):
    main(["bank-conflicts", str(EXAMPLE.with_name("tile_attention_sm100.mlir"))])
    assert capsys.readouterr().out == "none: nothing copies from or to shared memory\n"
