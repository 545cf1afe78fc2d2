"""The judge of Triton's records: what a kernel left in memory is compared bit for bit."""

import numpy as np
import pytest
import triton_records

TTIR = """
module {
  tt.func public @halve(%x: !tt.ptr<f32>, %n: i32) {
    %half = arith.constant dense<5.000000e-01> : tensor<16xf32>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %ns = tt.splat %n : i32 -> tensor<16xi32>
    %inside = arith.cmpi slt, %i, %ns : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %at = tt.addptr %xs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %value = tt.load %at, %inside : tensor<16x!tt.ptr<f32>>
    %result = arith.mulf %value, %half : tensor<16xf32>
    tt.store %at, %result, %inside : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
"""


def _record(wrong: float = 0.0) -> triton_records.Record:
    """A launch on eight elements from the second on; `wrong` is added to one that is left."""
    before = np.arange(10, dtype=np.float32)
    after = before.copy()
    after[1:9] *= 0.5
    after[4] += np.float32(wrong)
    tensor = {"kind": "tensor", "type": "*fp32", "storage": 0, "offset": 4}
    return {
        "ttir": "halve",
        "grid": (1, 1, 1),
        "args": [
            tensor,
            {"kind": "scalar", "type": "i32", "value": 8},
            {"kind": "constexpr", "value": 16},
        ],
        "before": [before.tobytes()],
        "after": [after.tobytes()],
    }


def test_equal_bits_are_equal():
    assert triton_records.replay("halve", _record(), TTIR).kind == "equal"


def test_a_wrong_element_fails():
    verdict = triton_records.replay("halve", _record(1e-6), TTIR)
    assert verdict.kind == "failed" and "1 of 10 float32 differ, the first at 4" in verdict.why


@pytest.mark.parametrize(
    "op", ['"tt.elementwise_inline_asm"() : () -> ()', "%y = arith.nothing %n : i32"]
)
def test_what_is_not_read_is_refused(op: str):
    text = TTIR.replace("tt.return", f"{op}\n    tt.return")
    assert triton_records.replay("halve", _record(), text).kind == "refused"
