"""`import tilewright as tw`: atoms, simulation, compilation, interpretation."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from numpy.testing import assert_array_equal
from run_levels import at_levels
from without_checks import without_checks

import tilewright as tw
from tilewright import levels, pipeline
from tilewright.dialects.cute import Layout
from tilewright.pipeline import lower
from tilewright.source.parsing import parse_module

AXPY, GEMM = ((EXAMPLES / name).read_text() for name in ("axpy.mlir", "gemm_sm80.mlir"))
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
OPERANDS = ("A", "B", "C")


# The package


def test_importing_loads_nothing_else():
    code = """
import sys, tilewright as tw
heavy = [name for name in sys.modules if name.split(".")[0] in ("xdsl", "numpy", "ml_dtypes")]
assert not heavy, heavy
assert {"atom", "compile", "interpret", "simulate", "CompileError"} <= set(dir(tw))
tw.atom("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32").check("sm_80")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names():
    for name in tw.__all__:
        assert getattr(tw, name) is getattr(tw, name)
    with pytest.raises(AttributeError, match="module 'tilewright' has no attribute 'nothing'"):
        tw.nothing  # type: ignore[attr-defined]  # noqa: B018
    assert issubclass(tw.CompileError, ValueError) and issubclass(tw.AtomError, ValueError)


# Atoms


def test_an_atom_by_mnemonic_and_by_op_is_the_same():
    atom = tw.atom(BF16)
    assert atom == tw.atom("sm80.mma", shape=(16, 8, 16), elem_type=("bf16", "bf16", "f32"))
    assert atom == tw.atom(
        "cute_nvgpu.sm80.mma", shape=(16, 8, 16), elem_type=("bf16", "bf16", "f32", "f32")
    )
    assert (atom.mnemonic, str(atom), atom.op, atom.shape) == (BF16, BF16, "sm80.mma", (16, 8, 16))
    modified = tw.atom("sm80.mma", shape=(8, 8, 16), elem_type=("s8", "u8", "s32"), satfinite=True)
    assert modified.mnemonic == "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32"
    assert tw.atom(modified.mnemonic) == modified
    rounded = tw.atom("sm80.mma", shape=(8, 8, 4), elem_type=("f64",) * 3, rounding="rz")
    assert rounded.mnemonic == "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64"


@pytest.mark.parametrize("mnemonic, words", [
    (BF16.replace("k16", "k17"), "expected a shape that (bf16, bf16, f32, f32) has, got 16x8x17; "
                                 "nearest legal: 16x8x16, 16x8x8"),
    (BF16.replace("row.col", "col.col"), f"nearest legal: {BF16}"),
    (BF16.replace(".bf16.f32", ".x.f32"), "expected element types of f16, bf16, tf32"),
    (BF16.replace(".f32.bf16.bf16.f32", ".f16.bf16.bf16.f16"),
     "got (bf16, bf16, f16, f16); nearest legal: (bf16, bf16, f32, f32)"),
    (BF16.replace("col.", "col.satfinite."), "only integer accumulators saturate"),
    (BF16.replace("col.", "col.rz."), "got rz; legal: none"),
    ("mma.foo", "got 'mma.foo'"),
])  # fmt: skip
def test_illegal_mnemonics(mnemonic: str, words: str):
    with pytest.raises(tw.AtomError, match=re.escape(words)):
        tw.atom(mnemonic)


@pytest.mark.parametrize("name, settings, words", [
    ("sm80.mma", {}, "'sm80.mma' expected shape=(M, N, K) and elem_type="),
    ("sm80.mma", {"shape": (16, 8, 16), "elem_type": ("f16", "f16")}, "expected shape="),
    ("sm80.mma", {"shape": (16, 8, 15), "elem_type": ("f16", "f16", "f32")},
     "got 16x8x15; nearest legal: 16x8x16, 16x8x8"),
    ("sm80.mma", {"shape": (16, 8, 16), "elem_type": ("f16", "bf16", "f32")},
     "got (f16, bf16, f32, f32); nearest legal: "),
    ("sm1.mma", {"shape": (16, 8, 16), "elem_type": ("f16", "f16", "f32")},
     "expected an op of the lattice, got 'sm1.mma'; legal: SM120.mma, "),
    (BF16, {"shape": (16, 8, 16)}, "a mnemonic says everything by itself"),
])  # fmt: skip
def test_illegal_atoms(name: str, settings: dict[str, Any], words: str):
    with pytest.raises(tw.AtomError, match=re.escape(words)):
        tw.atom(name, **settings)


def test_check():
    atom = tw.atom(BF16)
    for arch in ("sm_80", "sm_90a", "sm_120f"):
        assert atom.check(arch) is None
    with pytest.raises(tw.AtomError, match=rf"{BF16} requires sm_80 or later, got sm_75 \(PTX ISA"):
        atom.check("sm_75")
    with pytest.raises(tw.TargetError, match="unknown target 'sm_9'; nearest legal: sm_90"):
        atom.check("sm_9")


def test_layouts_and_coordinates():
    """PTX ISA 9.7.14.5.8: group g = lane / 4, t = lane % 4."""
    atom = tw.atom(BF16)
    assert atom.tv_layout("A") == Layout.parse("((4,8),(2,2,2)):((32,1),(16,8,128))")
    a, b, c = (atom.coords(operand) for operand in OPERANDS)
    assert (a.shape, b.shape, c.shape) == ((32, 8, 2), (32, 4, 2), (32, 4, 2))
    for lane in range(32):
        g, t = divmod(lane, 4)
        assert a[lane].tolist() == [[g + 8 * (i % 4 // 2), 2 * t + i % 2 + 8 * (i // 4)]
                                    for i in range(8)]  # fmt: skip
        assert b[lane].tolist() == [[g, 2 * t + i % 2 + 8 * (i // 2)] for i in range(4)]
        assert c[lane].tolist() == [[g + 8 * (i // 2), 2 * t + i % 2] for i in range(4)]
    assert_array_equal(atom.coords("D"), c)


# Compilation


def instructions(kernel: tw.Kernel) -> list[str]:
    """The lines of PTX without those that say where each comes from."""
    return [line for line in kernel.ptx.splitlines() if not line.strip().startswith("//")]


def test_compile():
    kernel = tw.compile(GEMM, "sm_90a", name="gemm.mlir", verify_each=True)
    (entry,) = kernel.entries
    assert (kernel.arch, kernel.shared_bytes, entry.shared_bytes) == ("sm_90a", 24576, 24576)
    assert (entry.name, entry.block, entry.dynamic_shared_bytes) == ("gemm", (128, 1, 1), 0)
    assert entry.parameters[:4] == (
        ("a_ptr", "u64"), ("b_ptr", "u64"), ("c_ptr", "u64"), ("m32", "u32"))  # fmt: skip
    assert kernel.entry() is kernel.entry("gemm") is entry
    with pytest.raises(ValueError, match="expected the name of one kernel, got 'x'; legal: gemm"):
        kernel.entry("x")
    # The lowest that the instructions need, not what was asked for.
    assert kernel.ptx.splitlines()[1:3] == [".version 7.0", ".target sm_80"]
    plain = tw.compile(AXPY, "sm_90a")
    assert plain.ptx.splitlines()[1:3] == [".version 6.0", ".target sm_70"]
    assert (plain.shared_bytes, plain.entries[0].block) == (0, None)


def test_several_kernels():
    kernel = tw.compile(GEMM + AXPY, "sm_80")
    assert [each.name for each in kernel.entries] == ["gemm", "axpy"]
    assert kernel.shared_bytes == 24576
    with pytest.raises(ValueError, match="got None; legal: gemm, axpy"):
        kernel.entry()
    assert tw.compile("", "sm_80").entries == ()


def test_more_shared_memory_than_a_static_array_may_be():
    text = """func.func @k() attributes {gpu.kernel} {
  %s = memref.alloc() : memref<SIZExi8, #cute<space smem>>
  func.return
}"""
    for size, dynamic in ((49152, 0), (65536, 65536)):
        kernel = tw.compile(text.replace("SIZE", str(size)), "sm_90a")
        assert kernel.shared_bytes == size
        assert kernel.entry().dynamic_shared_bytes == dynamic


@pytest.mark.parametrize("text", [AXPY, GEMM], ids=["axpy", "gemm"])
def test_a_module_is_left_as_it_is_and_gives_what_its_text_gives(text: str):
    module = parse_module(text)
    before = str(module)
    kernel = tw.compile(module, "sm_80")
    assert str(module) == before
    assert kernel.ptx == tw.compile(text, "sm_80").ptx
    assert instructions(kernel) == instructions(tw.compile(before, "sm_80"))
    if text is AXPY:
        x = np.ones(8, np.float32)
        tw.interpret(module, grid=(1,), block=(8,), args=[x, x, 2.0, 8], level="ptx")
        assert str(module) == before


def test_arch_too_low():
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(GEMM, "sm_75", name="gemm.mlir")
    error = caught.value
    lines = GEMM.splitlines()
    line = next(n for n, each in enumerate(lines, 1) if "cp.async" in each and each[0] != "/")
    assert (error.line, error.column) == (line, lines[line - 1].index("cute_nvgpu") + 1)
    assert error.message == "'cute_nvgpu.cp.async' requires sm_80 or later, got target sm_75"
    assert str(error) == (
        f"gemm.mlir:{line}:{error.column}: error: {error.message}\n{lines[line - 1]}\n"
        + " " * (error.column - 1) + "^"
    )  # fmt: skip
    mma = next(n for n, each in enumerate(lines, 1) if "sm80.mma" in each)
    without_copies = GEMM.replace("cute_nvgpu.cp.async.", "//").replace("cute_nvgpu.cp.async", "//")
    with pytest.raises(tw.CompileError, match=rf"<string>:{mma}:\d+: error: {BF16} requires sm_80"):
        tw.compile(without_copies, "sm_75")


@pytest.mark.parametrize(
    ("arch", "version", "target"),
    [
        ("sm_100a", "8.6", "sm_100a"),
        ("sm_103a", "8.8", "sm_100f"),
        ("sm_110f", "9.0", "sm_110f"),
        ("sm_120a", "8.7", "sm_120a"),
        ("sm_121a", "8.8", "sm_120f"),
    ],
)
def test_the_text_is_for_the_arch_where_several_targets_would_do(
    arch: str, version: str, target: str
):
    text = """func.func @k() attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %s = memref.alloc() : memref<32x16xui8, #cute<space smem>>
  %f = cute_nvgpu.ldmatrix %s[%i, %i] trans shape 16x16
    : memref<32x16xui8, #cute<space smem>> -> !cute_nvgpu.fragment<8xui8>
  func.return
}"""
    lines = tw.compile(text, arch).ptx.splitlines()
    assert lines[1:3] == [f".version {version}", f".target {target}"]


def test_unknown_arch():
    for call in (lambda: tw.compile(AXPY, "sm_91"), lambda: interpret_axpy(arch="sm_91")):
        with pytest.raises(tw.TargetError, match="unknown target 'sm_91'; nearest legal: sm_90"):
            call()


WRONG = [
    # What does not parse, what does not verify, what does not lower.
    ("func.func @k(", 1, "expected", "syntax"),
    ("func.func @k() attributes {gpu.kernel} {\n  foo.bar\n}", 2, "foo.bar", "unregistered op"),
    ("""func.func @k(%x: i32) attributes {gpu.kernel} {
\t%f = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<4xf32>
  func.return
}""", 2, "'cute_nvgpu.fragment.splat' expected a scalar of the fragment's element type f32",
     "verifier"),
    ("""func.func @k(%x: f32) attributes {gpu.kernel} {

  %y = "test.op"(%x) : (f32) -> f32
  func.return
}""", 3, "'test.op' has no lowering to ptx", "lowering"),
    ("func.func @f() {\n  func.return\n}", 1, "'func.func' has no lowering to ptx; nearest legal",
     "no kernel"),
    ("func.func @k(%x: tensor<4xf32>) attributes {gpu.kernel} {\n  func.return\n}", 1,
     "kernel argument of tensor<4xf32> expected a memref, a scalar or a tensor map", "argument"),
]  # fmt: skip


@pytest.mark.parametrize(
    "text, line, message", [each[:3] for each in WRONG], ids=[each[3] for each in WRONG]
)
def test_diagnostics_point_into_the_text(text: str, line: int, message: str):
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(text, "sm_90", name="dir/file.mlir")
    error = caught.value
    assert error.line == line and message.lower() in error.message.lower()
    head, shown, caret = str(error).split("\n")[:1] + str(error).split("\n")[-2:]
    assert head.startswith(f"dir/file.mlir:{line}:{error.column}: error: ")
    assert shown == text.splitlines()[line - 1]
    # The caret stands under the column, tabs kept.
    assert caret.endswith("^") and len(caret) == error.column
    assert caret[:-1] == "".join("\t" if each == "\t" else " " for each in shown[: len(caret) - 1])


def test_diagnostics_of_a_module_read_the_file_that_it_came_from(tmp_path: Path):
    file = tmp_path / "sine.mlir"
    file.write_text(WRONG[3][0])
    module = parse_module(file.read_text(), str(file))
    for call in (
        lambda: tw.compile(module, "sm_90"),
        lambda: tw.interpret(module, grid=(1,), block=(1,), args=[1.0]),
        lambda: tw.interpret(module, grid=(1,), block=(1,), args=[1.0], level="ptx"),
    ):
        with pytest.raises(tw.CompileError) as caught:
            call()
        assert str(caught.value).startswith(f"{file}:3:3: error: 'test.op' ")
        assert str(caught.value).endswith('\n  %y = "test.op"(%x) : (f32) -> f32\n  ^')


# Interpretation


def interpret_axpy(**changes: Any) -> list[np.ndarray]:
    settings: dict[str, Any] = {
        "grid": (1,), "block": (8,),
        "args": [np.arange(8, dtype=np.float32), np.ones(8, np.float32), 2.0, 7],
    }  # fmt: skip
    return tw.interpret(AXPY, **{**settings, **changes})


EXPECTED = np.array([1, 3, 5, 7, 9, 11, 13, 1], np.float32)


@at_levels()
def test_interpret_gives_the_arrays_back_and_leaves_its_arguments(level: str):
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    found = interpret_axpy(args=[x, y, 2.0, 7], level=level)
    assert len(found) == 2
    assert_array_equal(found[0], x)
    assert_array_equal(found[1], EXPECTED)
    assert not np.shares_memory(found[0], x) and not np.shares_memory(found[1], y)
    assert_array_equal(x, np.arange(8))
    assert_array_equal(y, np.ones(8))


def test_arguments_may_be_raw_bits_views_and_numpy_scalars():
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    bits = interpret_axpy(args=[x.view(np.uint32), y.view(np.uint32), 2, 7])
    assert bits[1].dtype == np.uint32
    assert_array_equal(bits[1].view(np.float32), EXPECTED)
    wide = np.zeros((8, 2), np.float32)
    wide[:, 0] = x
    found = interpret_axpy(args=[wide[:, 0], y, np.float64(2), np.int64(7)])
    assert_array_equal(found[1], EXPECTED)
    frozen, frozen_x = np.ones(8, np.float32), x.copy()
    frozen.setflags(write=False)
    frozen_x.setflags(write=False)
    assert_array_equal(interpret_axpy(args=[frozen_x, y, 2.0, 7])[1], EXPECTED)
    with pytest.raises(tw.ExecutionError, match="byte 0 of 'y', which is read-only"):
        interpret_axpy(args=[x, frozen, 2.0, 7])


def test_the_same_array_for_two_arguments_is_one_memory():
    x = np.ones(8, np.float32)
    found = interpret_axpy(args=[x, x, 2.0, 8])
    assert_array_equal(found[0], np.full(8, 3))
    assert_array_equal(found[1], np.full(8, 3))


def test_an_empty_array_may_be_passed():
    none = np.zeros(0, np.float32)
    assert [each.shape for each in interpret_axpy(args=[none, none, 2.0, 0])] == [(0,), (0,)]


def test_grid_and_block_may_leave_extents_out():
    for grid, block in (((4, 1), (2,)), ([2, 1, 1], (4, 1, 1)), ((8,), np.array([1, 1]))):
        assert_array_equal(interpret_axpy(grid=grid, block=block)[1], EXPECTED)


def test_progress_is_called_as_blocks_finish():
    calls: list[tuple[int, int]] = []
    interpret_axpy(grid=(4,), block=(2,), progress=lambda *each: calls.append(each))
    assert calls == [(4, 4)]


def test_numerics_follow_the_arch():
    """The same kernel on chips whose tensor cores add differently."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((64, 32)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((32, 64)).astype(ml_dtypes.bfloat16)
    c = np.zeros((64, 64), np.float32)
    results = [
        tw.interpret(GEMM, grid=(1,), block=(128,), args=[a, b, c, 64, 64, 32, 32, 64, 64], **each)[
            2
        ]
        for each in ({"arch": "sm_80"}, {"arch": "sm_90"}, {"numerics": "exact"}, {})
    ]
    low, high, exact, default = results
    assert_array_equal(default, low)
    assert (low != high).any() and (low != exact).any() and (high != exact).any()
    wide = a.astype(np.float64) @ b.astype(np.float64)
    for each in results:
        assert np.abs(each - wide).max() < 1e-5


@pytest.mark.parametrize("text", [AXPY, GEMM], ids=["axpy", "gemm"])
def test_the_lowered_module_is_ir_that_can_be_read_and_run(text: str):
    module, _ = lower(text, "sm_80")
    printed = str(module)
    assert str(parse_module(printed)) == printed
    assert instructions(tw.compile(printed, "sm_80")) == instructions(tw.compile(text, "sm_80"))
    if text is AXPY:
        settings: dict[str, Any] = {"grid": (1,), "block": (8,)}
        x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
        found = tw.interpret(printed, args=[x, y, 2.0, 7], **settings)
        assert_array_equal(found[1], EXPECTED)
        with pytest.raises(tw.ExecutionError, match="'n' expected a number for u32, got an array"):
            tw.interpret(printed, args=[x, y, 2.0, x], **settings)


@at_levels("tile", "atom", "ptx")
def test_without_an_arch_the_lowered_instructions_say_it(level: levels.Level):
    """max.NaN is sm_80's, add.bf16 sm_90's: neither `arith.maximumf` nor `arith.addf` says so."""
    text = """func.func @k(%x: f32, %h: bf16, %o: memref<2xf32>) attributes {gpu.kernel} {
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %m = arith.maximumf %x, %x : f32
  %a = arith.addf %h, %h : bf16
  %w = arith.extf %a : bf16 to f32
  memref.store %m, %o[%i] : memref<2xf32>
  memref.store %w, %o[%j] : memref<2xf32>
  func.return
}"""
    arguments: dict[str, Any] = {"grid": (1,), "block": (1,), "level": level}
    args = [1.5, 2.0, np.zeros(2, np.float32)]
    (out,) = tw.interpret(text, args=args, **arguments)
    assert out.tolist() == [1.5, 4.0]
    if level == "ptx":
        with pytest.raises(tw.CompileError, match="requires sm_80 or later, got target sm_75"):
            tw.interpret(text, args=args, arch="sm_75", **arguments)


def test_a_text_is_lowered_once_for_all_arguments(monkeypatch: pytest.MonkeyPatch):
    """By the same stages: by others it is lowered anew."""
    stages: list[int] = []

    def counted(*args: Any, **options: Any) -> None:
        stages.append(len(pipeline.PIPELINE))
        pipeline.run_pipeline(*args, **options)

    monkeypatch.setattr(levels, "run_pipeline", counted)
    for text in (AXPY + "// once", AXPY + "// twice", AXPY + "// once"):
        for number in (3, 7):
            x = np.arange(64, dtype=np.float32)
            args = [x, np.ones(64, np.float32), 2.0, number]
            launch: dict[str, Any] = {"grid": (2,), "block": (32,), "arch": "sm_80"}
            y = tw.interpret(text, args=args, level="ptx", **launch)[1]
            assert y.tolist() == np.where(x < number, 2 * x + 1, 1).tolist()
    with without_checks():
        tw.interpret(text, args=args, level="ptx", **launch)
    every = len(pipeline.PIPELINE)
    assert stages == [every, every, every - 2]


UNPROVEN = """
func.func @k(%p: memref<?xindex>, %v: i32) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : memref<64xi32, #cute<space smem>>
  %at = memref.load %p[%t] : memref<?xindex>
  memref.store %v, %s[%at] : memref<64xi32, #cute<space smem>>
  func.return
}
"""


def test_what_the_check_of_hazards_cannot_decide_warns_or_is_an_error():
    with pytest.warns(UserWarning, match="'memref.store' at line 6: not proven: its place"):
        tw.compile(UNPROVEN, arch="sm_80")
    with pytest.raises(tw.CompileError, match="is not proven to be free of hazards"):
        tw.compile(UNPROVEN, arch="sm_80", unproven="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tw.compile(UNPROVEN, arch="sm_80", unproven="ignore")
