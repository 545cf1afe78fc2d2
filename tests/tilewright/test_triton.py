"""Launches of Triton kernels on the CPU, by Triton's own front end."""

import inspect
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
import triton
import triton_kernels as kernels
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal, assert_array_max_ulp
from run_levels import at_levels
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor
from xdsl.printer import Printer

import tilewright as tw
from tilewright.modelled_time import ModelledTimeWarning
from tilewright.source.verification import verify
from tilewright.triton import host, kept_modules
from tilewright.triton.parameters import HostArray, for_launch


def test_a_launch_runs_in_place_where_the_arrays_are():
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    out = np.zeros(110, np.float32)
    with tw.triton.on_cpu():
        kernels.add[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, out[5:], 100, BLOCK=32)
    assert_array_equal(out[5:105], x + 1)
    assert not out[:5].any() and not out[105:].any()


def test_arrays_that_share_memory_are_one_memory():
    memory = np.arange(64, dtype=np.float32)
    with tw.triton.on_cpu():
        kernels.add[(1,)](memory, memory[32:], memory, 32, BLOCK=32)
    assert_array_equal(memory[:32], np.arange(32) + np.arange(32, 64))
    assert_array_equal(memory[32:], np.arange(32, 64))


@pytest.mark.parametrize(("second", "total"), [(0, 4), (32, 3), (64, 0)])
def test_what_is_stored_by_another_pointer_is_loaded(second: int, total: int):
    """Where nothing is that is stored, loads wait for no store; a launch, and a compilation for
    arrays, finds out whether that is so."""
    memory, out = np.zeros(128, np.float32), np.zeros(64, np.float32)
    arguments, given = (memory, memory[second:], out, 3), memory.copy()
    module = tw.triton.module(kernels.reread, *arguments, BLOCK=64)
    with tw.triton.on_cpu():
        kernels.reread[(1,)](*arguments, BLOCK=64)
    assert_array_equal(out, [total] * (64 - second) + [0] * second)
    for level in ("program", "ptx"):
        args = [given, given[second:], np.zeros(64, np.float32), 3]
        *_, got = tw.interpret(module, grid=(1, 1, 1), args=args, level=level)
        assert_array_equal(got, out)


@pytest.mark.parametrize("wraps", [False, True], ids=["at any column", "wrapping around"])
def test_products_of_what_begins_anywhere(*, wraps: bool):
    """What TMA copies begins at a multiple of 16 bytes; what threads copy beside it, when they know
    where it lies."""
    random, out = default_rng(0), np.zeros((3, 64, 32), np.float32)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 64), (65, 64)))
    module = tw.triton.module(kernels.turned_product, a, b, out, 64, 5, WRAPS=wraps)
    args, want = [a, b, out, 64, 5], np.zeros_like(out)
    for first in range(3):
        other = b[(first * 32 + np.arange(32)) % 5].T if wraps else b[:64, first : first + 32]
        want[first] = a.astype(np.float32) @ other.astype(np.float32)
    for level in ("program", "ptx"):
        *_, got = tw.interpret(module, grid=(3, 1, 1), args=args, level=level, arch="sm_90a")
        assert_array_equal(got, want)


def test_launches_are_bounded_and_tell_how_far_they_are():
    told, flag = [], np.ones(1, np.int32)
    with tw.triton.on_cpu(max_steps=9, progress=lambda *blocks: told.append(blocks)):
        kernels.add[(2,)](flag, flag, np.zeros(64, np.int32), 1, BLOCK=32)
        with pytest.raises(tw.ExecutionError, match="at most 9 iterations") as error:
            kernels.locked[(1,)](flag)
    assert told[0] == (2, 2) and "while tl.atomic_cas(flag, 0, 1) == 1:" in str(error.value)


def test_a_race_of_programs_is_an_error_at_its_python_line():
    line = r"triton_kernels\.py:"
    with pytest.raises(tw.ExecutionError, match=line) as error, tw.triton.on_cpu():
        kernels.racing[(2,)](np.zeros(16, np.int32), BLOCK=16)
    assert "tl.store(out + tl.arange(0, BLOCK), tl.program_id(0))" in str(error.value)


def test_a_kernel_that_triton_has_kept_is_at_the_lines_of_its_own_file(tmp_path):
    for folder in ("here", "there"):
        file = tmp_path / folder / "kernels.py"
        file.parent.mkdir()
        file.write_text(inspect.getsource(kernels))
        spec = spec_from_file_location(f"{folder}_kernels", file)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        with pytest.raises(tw.ExecutionError) as error, tw.triton.on_cpu():
            module.racing[(2,)](np.zeros(16, np.int32), BLOCK=16)
        assert str(error.value).startswith(f"{file}:")
        traced = tw.triton.module(module.racing, np.zeros(16, np.int32), BLOCK=16)
        assert str(file) in str(traced.body.block.first_op.location)


def test_a_kernel_is_two_files_that_the_next_process_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    traced, translated, make_ir = [], [], ASTSource.make_ir
    monkeypatch.setattr(ASTSource, "make_ir", lambda *all_: traced.append(1) or make_ir(*all_))
    read = kept_modules.parse_module
    monkeypatch.setattr(
        kept_modules, "parse_module", lambda *all_: translated.append(1) or read(*all_)
    )

    def run():
        out = np.zeros(16, np.float32)
        host._kernel.cache_clear()
        with tw.triton.on_cpu():
            kernels.add.device_caches.clear()
            compiled = kernels.add[(1,)](out + 1, out + 2, out, 16, BLOCK=16)
        assert (out == 3).all() and "tt.func" in compiled.asm["ttir"]
        verify(compiled.function.entry.get_toplevel_object())  # which a launch does not ask
        return sorted(tmp_path.iterdir(), key=lambda path: path.suffix)

    texts, module = run()
    assert run() == [texts, module] and len(traced) == len(translated) == 1
    texts.write_text(texts.read_text()[:-1])  # one that is not whole is none
    module.write_bytes(module.read_bytes()[:-1])
    assert run() == [texts, module] and len(traced) == len(translated) == 2
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    assert run() == [texts, module] and len(traced) == len(translated) == 3


def test_a_kept_module_is_what_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    a = np.zeros((16, 16), np.float16)
    with tw.triton.on_cpu():
        sizes = {"BM": 16, "BN": 16, "BK": 16}
        compiled = kernels.product.warmup(a, a, a, 16, 16, 16, grid=(1,), **sizes)
    modules = [kept_modules.kept_module(compiled.kernel, "product") for _ in range(2)]
    for module in modules:
        verify(module)
    made, kept = map(printed, modules)
    assert made == kept and "scf" not in made and "for %" in made and "triton_kernels.py" in made


def test_launches_of_many_elements_have_views():
    out = np.zeros(1 << 14, np.float32)
    with tw.triton.on_cpu():
        few = kernels.add[(1,)](out, out + 1, out, 16, BLOCK=16)
        assert (out[:16] == 1).all() and not out[16:].any()
        assert few.function.of_launch((1, 1, 1), []) is few.function.entry
        many = kernels.add[(1024,)](out, out + 1, out, len(out), BLOCK=16)
    assert many is few and (out == [3] * 16 + [1] * (len(out) - 16)).all()
    assert many.function.of_launch((1024, 1, 1), []) is many.function.viewed
    texts = [str(entry) for entry in (many.function.entry, many.function.viewed)]
    assert ["load_view" in text for text in texts] == [False, True]
    assert ["load_ptr" in text for text in texts] == [True, False]


@pytest.mark.parametrize(("step", "first"), [(1, 16), (1, -16), (-1, 0), (-1, -16)])
def test_numbers_and_strides_of_a_launch_may_be_negative(step: int, first: int):
    """What is taken for granted of them, so that tiles are seen through, is not taken of those."""
    x = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)
    rows = np.arange(32) + first
    there = (rows >= 0) & (rows < 32)
    expected = np.where(there[:, None], x[::step][rows % 32], 0)
    begin = x.reshape(-1)[0 if step == 1 else 31 * 32 :]  # the pointer reaches what is in front
    numbers, sizes, out = (32, 32, step * 32, first), {"BR": 16, "BC": 16}, np.zeros_like(x)
    with tw.triton.on_cpu():
        compiled = kernels.rows_from[(2,)](begin, out, *numbers, **sizes)
    assert_array_equal(out, expected)
    if step == 1:
        text = compiled.asm["ttir"]
        for level in ("program", "ptx"):
            ran = tw.interpret(text, grid=(2, 1, 1), args=[x, 0 * out, *numbers], level=level)
            assert_array_equal(ran[1], expected)
    module = tw.triton.module(kernels.rows_from, begin, out, *numbers, **sizes)
    assert ("load_view" in str(module)) == (step > 0 and first >= 0)


def printed(module):
    text = StringIO()
    Printer(text, print_debuginfo=True).print_op(module)
    return text.getvalue()


def test_a_race_that_is_ignored_leaves_one_of_the_writes():
    out = np.full(16, 7, np.int32)
    with tw.triton.on_cpu(races="ignore"):
        kernels.racing[(2,)](out, BLOCK=16)
    assert set(out.tolist()) <= {0, 1}


def test_what_is_printed_survives_an_error(capsys):
    with pytest.raises(tw.ExecutionError, match="expected no other block"), tw.triton.on_cpu():
        kernels.printing[(2,)](np.zeros(4, np.int32), BLOCK=4)
    assert capsys.readouterr().out == " at: [0, 1, 2, 3]\n" * 2
    with pytest.raises(tw.ArgumentError, match="grid as up to three"), tw.triton.on_cpu():
        kernels.printing[(2.0,)](np.zeros(4, np.int32), BLOCK=4)


def test_tuples_are_taken_apart():
    out = np.zeros(16, np.float32)
    with tw.triton.on_cpu():
        pair = (np.ones(16, np.float32).view(HostArray), np.ones(16, np.float32).view(HostArray))
        kernels.scaled[(1,)](pair, out, (2.0, 1), BLOCK=16)
    assert_array_equal(out, np.full(16, 3, np.float32))


def test_softmax_is_numpys():
    x = default_rng(3).standard_normal((4, 100)).astype(np.float32)
    out = np.zeros_like(x)
    with tw.triton.on_cpu():
        kernels.softmax[(4,)](x, out, 100, 100, BLOCK=128)
    powers = np.exp(x - x.max(1, keepdims=True))
    assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-6)


def test_scripts_may_ask_for_the_device_by_any_number():
    with tw.triton.on_cpu(capability=(10, 0)):
        (ours,) = triton.backends.backends.values()
        assert ours.driver.is_active()
        driver = triton.runtime.driver.active
        told = [driver.utils.get_device_properties(i) for i in (0, driver.get_current_device())]
    assert told[0] == told[1] == {
        "max_shared_mem": 232448, "multiprocessor_count": 148, "warpSize": 32
    }  # fmt: skip


def test_autotune_runs_each_configuration_with_its_hooks(monkeypatch):
    monkeypatch.setattr(kernels.tuned, "_do_bench", lambda *_, **__: pytest.fail("a clock"))
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernels.BLOCKS.clear()
    with (
        tw.triton.on_cpu(),
        pytest.warns(ModelledTimeWarning, match="latency model of sm_90a") as told,
    ):
        kernels.tuned[lambda meta: (triton.cdiv(64, meta["BLOCK"]),)](x, out, 64)
    assert set(kernels.BLOCKS) == {32, 64}
    assert len(told) == 2  # configurations that differ by their stages are one kernel
    assert_array_equal(out, 2 * x)


class HostTensor:
    """A tensor of torch of 16 floats, as its memory is found."""

    layout = "strided"

    def __init__(self, array):
        self.array = array

    def untyped_storage(self):
        return SimpleNamespace(
            data_ptr=lambda: self.array.ctypes.data,
            nbytes=lambda: 64,
            device=SimpleNamespace(type="cpu"),
        )


@pytest.fixture
def torch_of_tensors(monkeypatch: pytest.MonkeyPatch):
    parameters = SimpleNamespace(Parameter=HostTensor)
    torch = SimpleNamespace(Tensor=HostTensor, nn=parameters, strided="strided")
    monkeypatch.setitem(sys.modules, "torch", torch)


@pytest.mark.usefixtures("torch_of_tensors")
def test_what_has_an_address_in_a_tensor_is_a_pointer():
    tensor, out = HostTensor(np.arange(16, dtype=np.float32)), np.zeros(8, np.float32)
    inner = SimpleNamespace(data_ptr=lambda: tensor.array[8:].ctypes.data, dtype="float32")
    with tw.triton.on_cpu():
        kernels.calling[(1,)](inner, out, BLOCK=8)
        assert (out == 2 * np.arange(8, 16)).all()
        inner.data_ptr = lambda: 64
        with pytest.raises(tw.ArgumentError, match="expected 'x' to be a torch tensor on the CPU"):
            kernels.calling[(1,)](inner, out, BLOCK=8)


@pytest.mark.usefixtures("torch_of_tensors")
def test_tables_have_addresses_of_tensors_of_torch():
    tensors = [HostTensor(np.arange(16, dtype=np.float32) + i) for i in range(3)]
    addresses = np.array([tensor.array[8:].ctypes.data for tensor in tensors] + [-1])
    out = np.zeros((3, 8), np.float32)
    with tw.triton.on_cpu():
        kernels.tables[(3,)](addresses, out, BLOCK=8)
    for i, tensor in enumerate(tensors):
        assert (out[i] == np.arange(8, 16) + i).all()
        assert (tensor.array == [*np.arange(i, i + 8), *[0] * 8]).all()


def test_a_table_without_tensors_has_no_addresses():
    with tw.triton.on_cpu(), pytest.raises(tw.ExecutionError, match="got address 0x10"):
        kernels.tables[(1,)](np.array([16]), np.zeros(8, np.float32), BLOCK=8)


def test_a_number_that_has_no_room_is_an_error():
    x = np.zeros(8, np.float32)
    with tw.triton.on_cpu(), pytest.raises(tw.ArgumentError, match="'n' expected an i32, got 2147"):
        compiled = kernels.add.warmup(x, x, x, 7, BLOCK=8, grid=(1,))
        compiled[(1, 1, 1)](*[x.view(HostArray)] * 3, 1 << 31, 8)


@pytest.mark.parametrize(
    ("n", "first", "together"), [(16, 0, True), (48, 32, True), (16, -128, False), (15, 0, False)]
)
def test_neighbours_have_one_quotient(n: int, first: int, together: bool):
    """Natural numbers that count from a multiple of what divides the divisor."""
    out, i = np.zeros(1024, np.int32), np.arange(1024) + first
    with tw.triton.on_cpu():
        compiled = kernels.divided[(2,)](out, 0 * out, n, first, BLOCK=512)
    text = for_launch(compiled.kernel, [0, 0, n, first], apart=True).decode()
    args = [out, 0 * out, n, first]
    quotients, rests = tw.interpret(text, grid=(2, 1, 1), args=args, level="ptx", arch="sm_90a")
    assert_array_equal(quotients, np.trunc(i / n))
    assert_array_equal(rests, np.fmod(i, n))
    ptx = tw.compile(text, "sm_90a").ptx
    assert (ptx.count("div.") <= 2) == together


def test_elements_from_a_narrowed_multiple_on_are_loaded_together():
    x = np.zeros(1 << 12, np.float16)
    ptx = tw.triton.compile(kernels.narrowed, x, x, 1 << 33, BLOCK=1024, arch="sm_80").ptx
    assert re.search("ld.global.v4|cp.async.cg", ptx) and "st.global.v4" in ptx


def test_a_descriptor_of_the_host_pads_as_it_says():
    base = np.arange(64, dtype=np.float32).reshape(4, 16).view(HostArray)
    out = np.zeros((8, 16), np.float32)
    with tw.triton.on_cpu():
        descriptor = TensorDescriptor(base, [3, 16], [16, 1], [8, 16])
        kernels.from_descriptor[(1,)](descriptor, out, M=8, N=16)
    assert_array_equal(out[:3], base[:3])
    assert not out[3:].any()


def test_a_kernel_as_tile_ir_and_as_ptx():
    x = np.zeros(64, np.float32)
    arguments = (x, x, x, 64)
    assert "cuda_tile.entry @add" in str(tw.triton.module(kernels.add, *arguments, BLOCK=64))
    compiled = tw.triton.compile(kernels.add, *arguments, BLOCK=64, arch="sm_90a")
    assert ".entry add" in compiled.ptx


def _numbers(*shape, dtype="f4"):
    return default_rng(5).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(
    ("kernel", "grid", "args", "options"),
    [
        (kernels.add, (4,), [_numbers(100), _numbers(100), _numbers(100)], {"n": 100, "BLOCK": 32}),
        (kernels.softmax, (3,), [_numbers(3, 100), _numbers(3, 100)],
         {"stride": 100, "n": 100, "BLOCK": 128}),
        (kernels.product, (2, 2),
         [_numbers(40, 48, dtype="f2"), _numbers(48, 40, dtype="f2"), np.zeros((40, 40), "f2")],
         {"M": 40, "N": 40, "K": 48, "BM": 32, "BN": 32, "BK": 32}),
    ],
    ids=["add", "softmax", "product"],
)  # fmt: skip
def test_compiled_instructions_leave_what_tiles_leave(kernel, grid, args, options):
    module = tw.triton.module(kernel, *args, **options)
    numbers = [value for name, value in options.items() if name[0] != "B"]
    tiles, instructions = (
        tw.interpret(module, grid=grid, args=[*args, *numbers], level=level, arch="sm_90a")
        for level in ("program", "ptx")
    )
    ulps = 4 if kernel is kernels.softmax else 0  # the order of a sum is open
    for one, other in zip(tiles, instructions, strict=True):
        assert_array_max_ulp(one, other, ulps)


OUT = np.zeros(16, np.float32)


def test_what_is_no_kernel_and_what_is_no_memory_is_refused():
    with pytest.raises(tw.ArgumentError, match=r"expected a @triton\.jit function, got 3"):
        tw.triton.module(3)

    class Elsewhere:
        dtype = "float32"

        def data_ptr(self) -> int:
            return 16

    out = np.zeros(16, np.float32)
    with pytest.raises(tw.ArgumentError, match="'x' to be a torch tensor"), tw.triton.on_cpu():
        kernels.add[(1,)](Elsewhere(), out, out, 16, BLOCK=16)


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        (
            (OUT, OUT, OUT),
            {"BLOCK": 16},
            "'add' expected arguments x, .*; missing: n",
        ),
        ((OUT, OUT, OUT, 16), {"BLOKC": 16}, "missing: BLOCK"),
        (
            (OUT, OUT, [1.0], 16),
            {"BLOCK": 16},
            r"'out' expected a torch .*got \[1\.0\]",
        ),
        ((OUT, OUT.astype(complex), OUT, 16), {"BLOCK": 16}, "'y' expected .*got complex128"),
        ((OUT, OUT.astype(">f4"), OUT, 16), {"BLOCK": 16}, "'y' expected .*got >f4"),
    ],
)
def test_wrong_arguments_are_named(args, options, said):
    with pytest.raises(tw.ArgumentError, match=said), tw.triton.on_cpu():
        kernels.add[(1,)](*args, **options)
    with pytest.raises(tw.ArgumentError, match=said):
        tw.triton.compile(kernels.add, *args, **options)


@pytest.mark.parametrize("grid", [8, lambda meta: 8])
def test_a_grid_is_a_tuple(grid):
    said = "expected grid as a tuple of integers, or a function that gives one, got 8"
    with pytest.raises(tw.ArgumentError, match=said), tw.triton.on_cpu():
        kernels.add[grid](OUT, OUT, OUT, 16, BLOCK=16)


TTIR = """
module {
  tt.func public @double(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %from = tt.addptr %xs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %value = tt.load %from : tensor<16x!tt.ptr<f32>>
    %sum = arith.addf %value, %value : tensor<16xf32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %to = tt.addptr %outs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %to, %sum : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
"""


@at_levels("program", "ptx")
def test_ttir_is_read_wherever_a_module_is(level):
    x = np.arange(16, dtype=np.float32)
    arguments = [x, np.zeros(16, np.float32)]
    _, out = tw.interpret(TTIR, "double", grid=(1,), args=arguments, level=level)
    assert_array_equal(out, 2 * x)
    assert ".entry double" in tw.compile(TTIR, "sm_90a").ptx
