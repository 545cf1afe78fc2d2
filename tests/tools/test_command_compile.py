"""`tilewright compile` and `tilewright explain-layouts`: PTX, remarks at their lines, layouts in
words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.tools.tilewright import main

# Two transposed tiles, of which one goes through shared memory, and rows whose alignment nobody
# has proven.
TEXT = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %n: tile<i32>) {
    %i = constant <i32: 0> : tile<i32>
    %a = make_tensor_view %p, shape = [%n, 64], strides = [64, 1]
        : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
    %b = make_tensor_view %q, shape = [64, %n], strides = [64, 1]
        : tile<i32> -> tensor_view<64x?xf16, strides=[64,1]>
    %v = make_partition_view %a
        : partition_view<tile=(64x64), tensor_view<?x64xf16, strides=[64,1]>>
    %w = make_partition_view %b
        : partition_view<tile=(64x64), tensor_view<64x?xf16, strides=[64,1]>>
    %x, %t = load_view_tko weak %v[%i, %i]
        : partition_view<tile=(64x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32>
        -> tile<64x64xf16>, token
    %y = permute %x [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %u = store_view_tko weak %y, %w[%i, %i] : tile<64x64xf16>,
        partition_view<tile=(64x64), tensor_view<64x?xf16, strides=[64,1]>>, tile<i32> -> token
  }
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "transpose.mlir"
    path.write_text(TEXT)
    return path


def test_remarks_stand_at_their_lines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = file.with_suffix(".ptx")
    main(["compile", str(file), "--arch", "sm_80", "-o", str(output), "--remarks"])
    said = capsys.readouterr()
    assert not said.out and ".entry k" in output.read_text()
    heads = [line for line in said.err.splitlines() if ": remark: " in line]
    load = next(line for line in heads if "'cuda_tile.load_view_tko' moves 2 bytes" in line)
    assert load.startswith(f"{file}:12:") and load.endswith("[vector]")
    moved = [line for line in heads if line.endswith("[conversion]")]
    assert len(moved) == 1 and moved[0].startswith(f"{file}:16:")
    assert "64x64xf16 of 'cuda_tile.permute' in another layout" in moved[0]


def test_nothing_is_said_where_nobody_asks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["compile", str(file), "--arch", "sm_90a"])
    said = capsys.readouterr()
    assert ".entry k" in said.out and not said.err


def test_layouts_in_words(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain-layouts", str(file), "--arch", "sm_80"])
    said = capsys.readouterr().out
    load, permute = (
        next(line for line in said.splitlines() if f"cuda_tile.{op} 64x64xf16: " in line)
        for op in ("load_view_tko", "permute")
    )
    assert "lanes 1x32, warps 2x2 = (128,32):(1,128); neighbours in memory" in load
    assert "lanes 32x1, warps 2x2" in permute and permute.endswith("; that of its source")
    assert "1 conversions:" in said and "wants 64x64xf16 of 'cuda_tile.permute'" in said


@pytest.mark.parametrize("command", [["compile", "--arch", "sm_80"], ["explain-layouts"]])
def test_wrong_input_is_told_at_its_place(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text(TEXT.replace("permute %x [1, 0]", "permute %x [1, 1]"))
    with pytest.raises(SystemExit) as ended:
        main([*command, str(path)])
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith(f"{path}:15:5: error: 'cuda_tile.permute'")
