"""`tilewright compile` and `tilewright explain-layouts`: PTX, remarks at their lines, layouts in
words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from run_command import refused

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


def test_remarks_stand_at_their_lines(file: Path, capsys: pytest.CaptureFixture[str]):
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


def test_nothing_is_said_where_nobody_asks(file: Path, capsys: pytest.CaptureFixture[str]):
    main(["compile", str(file), "--arch", "sm_90a"])
    said = capsys.readouterr()
    assert ".entry k" in said.out and not said.err


def test_layouts_in_words(file: Path, capsys: pytest.CaptureFixture[str]):
    main(["explain-layouts", str(file), "--arch", "sm_80"])
    said = capsys.readouterr().out
    load, permute = (
        next(line for line in said.splitlines() if f"cuda_tile.{op} 64x64xf16: " in line)
        for op in ("load_view_tko", "permute")
    )
    assert "lanes 1x32, warps 2x2 = (128,32):(1,128); neighbours in memory" in load
    assert "lanes 32x1, warps 2x2" in permute and permute.endswith("; that of its source")
    assert "1 conversion:" in said and "wants 64x64xf16 of 'cuda_tile.permute'" in said


PRODUCT = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f16: 0.0> : tile<128x64xf16>
    %q = assume div_by<16>, %p : tile<ptr<f16>>
    %a = make_tensor_view %q, shape = [4096, 4096], strides = [4096, 1]
        : tensor_view<4096x4096xf16, strides=[4096,1]>
    %x = make_partition_view %a
        : partition_view<tile=(128x64), tensor_view<4096x4096xf16, strides=[4096,1]>>
    %y = make_partition_view %a
        : partition_view<tile=(64x64), tensor_view<4096x4096xf16, strides=[4096,1]>>
    %s = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%c = %none)
        -> (tile<128x64xf16>) {
      %f, %t = load_view_tko weak %x[%zero, %k]
          : partition_view<tile=(128x64), tensor_view<4096x4096xf16, strides=[4096,1]>>, tile<i32>
          -> tile<128x64xf16>, token
      %g, %u = load_view_tko weak %y[%k, %zero]
          : partition_view<tile=(64x64), tensor_view<4096x4096xf16, strides=[4096,1]>>, tile<i32>
          -> tile<64x64xf16>, token
      %d = mmaf %f, %g, %c : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf16>
      continue %d : tile<128x64xf16>
    }
    %v = store_view_tko weak %s, %x[%zero, %zero] : tile<128x64xf16>,
        partition_view<tile=(128x64), tensor_view<4096x4096xf16, strides=[4096,1]>>, tile<i32>
        -> token
  }
}
"""


@pytest.mark.parametrize(
    ("arch", "load", "product"),
    [
        ("sm_80", "by cp.async, (64,64):(64,1), chunks of 16 bytes swizzled; MMAs of",
         r"registers \d+x\d+, lanes 8x4, warps"),
        ("sm_90a", "by TMA, S<3,3,3> o 0 o (64,64):(64,1); MMAs read it as it lies",
         "accumulators of wgmma, registers 2x16, lanes 8x4, warps 8x1 = "),
        ("sm_100a", "by TMA, S<3,3,3> o 0 o (64,64):(64,1); MMAs read it as it lies",
         "tensor memory, columns 0 to 63; threads load registers 1x32, lanes 32x1, warps 4x2 = "),
    ],
)  # fmt: skip
def test_places_in_words(
    arch: str, load: str, product: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "product.mlir"
    path.write_text(PRODUCT)
    main(["explain-layouts", str(path), "--arch", arch])
    said = capsys.readouterr().out
    assert re.search(f"load_view_tko 64x64xf16: shared memory, .* stages {re.escape(load)}", said)
    assert re.search(f"mmaf 128x64xf16: {product}", said)
    stores = "store_view_tko 128x64xf16: shared memory, S<3,3,3> o 0 o (128,64):(64,1); TMA stores"
    assert (stores in said) == (arch != "sm_80")


@pytest.mark.parametrize("command", [["compile", "--arch", "sm_80"], ["explain-layouts"]])
def test_wrong_input_is_told_at_its_place(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "wrong.mlir"
    path.write_text(TEXT.replace("permute %x [1, 0]", "permute %x [1, 1]"))
    error = refused(capsys, main, [*command, str(path)])
    assert error.startswith(f"{path}:15:5: error: 'cuda_tile.permute'")
