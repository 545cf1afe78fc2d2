"""Ops of the `cute` dialect, lowered to structs and arithmetic, compute what the algebra does.

Each test is one op on values some of whose leaves are dynamic, each thread with numbers of its own.
The kernel reads them and stores the numbers of the result; `cute-fold-static`, `cute-expand-ops`
and `cute-to-base` lower it, and the interpreter runs what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

import tilewright as tw
from tilewright.dialects import cute
from tilewright.dialects.cute import Layout, LayoutError, equivalent, flatten, unflatten
from tilewright.dialects.cute.ops.accessors import GetScalarsOp
from tilewright.dialects.cute.ops.arithmetic import TupleAddOp, TupleSubOp
from tilewright.dialects.cute.ops.layout_algebra import CoalesceOp, CompositionOp
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp
from tilewright.dialects.cute.ops.size_index import Crd2IdxOp, LayoutEvalOp, SizeOp
from tilewright.dialects.cute.rules.accessors import dynamic_leaves
from tilewright.dialects.cute.symbolic.layouts import make_unchecked
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.values import Typed, with_dynamic_leaves
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.leaves import Leaf, sized, width_of_type
from tilewright.lowering.to_base.convert_cute_to_base import CuteToBasePass
from tilewright.lowering.to_base.cute_expand_ops import CuteExpandOpsPass, build
from tilewright.passes.cute_fold_static import CuteFoldStaticPass
from tilewright.source.parsing import parse_module

THREADS = 4
NUMBERS = MemRefType(i64, [DYNAMIC_INDEX])
PIPELINE = (CuteFoldStaticPass(), CuteExpandOpsPass(), CuteToBasePass())
law = settings(deadline=None)


class Kernel:
    """A kernel that is being built: every thread reads numbers and stores numbers."""

    def __init__(self, reads: int) -> None:
        self.block = Block(arg_types=[NUMBERS, NUMBERS])
        self.emitter = Emitter(self.block, fold=False)
        self.thread = self.emitter.emit(gpu.ThreadIdOp(gpu.DimensionAttr(gpu.DimensionEnum.X)))
        self.reads, self.next = reads, 0

    def value(self, typed: Typed) -> SSAValue:
        """A value whose dynamic leaves are the next numbers read."""
        leaves = [self.leaf(self.read(leaf.width)) for leaf in dynamic_leaves(typed)]
        return build(self.emitter, with_dynamic_leaves(typed, leaves))

    def leaf(self, value: SSAValue) -> Leaf:
        return Leaf(value, width_of_type(value.type), self.emitter)

    def read(self, width: int) -> SSAValue:
        at = self.place(self.next, self.reads)
        self.next += 1
        loaded = self.emitter.emit(memref.LoadOp.get(self.block.args[0], [at]))
        return self.emitter.resized(loaded, 64, width)

    def place(self, i: int, count: int) -> SSAValue:
        """Where the i-th of each thread's `count` numbers is."""
        scale = self.emitter.emit(arith.ConstantOp.from_int_and_width(count, IndexType()))
        base = self.emitter.emit(arith.MuliOp(self.thread, scale))
        offset = self.emitter.emit(arith.ConstantOp.from_int_and_width(i, IndexType()))
        return self.emitter.emit(arith.AddiOp(base, offset))

    def store(self, value: SSAValue) -> int:
        """Store the dynamic leaves of a value; how many they are."""
        scalars = GetScalarsOp.build_from(value, properties={"only_dynamic": UnitAttr()})
        self.emitter.add(scalars)
        for i, scalar in enumerate(scalars.results):
            number = sized(self.emitter, self.leaf(scalar), 64)
            at = self.place(i, len(scalars.results))
            self.emitter.add(memref.StoreOp.get(number, self.block.args[1], [at]))
        return len(scalars.results)

    def run(self, numbers: np.ndarray, stored: int) -> np.ndarray:
        """What each thread stores, lowered and interpreted."""
        self.emitter.add(func.ReturnOp())
        type_ = FunctionType.from_lists([NUMBERS, NUMBERS], [])
        op = func.FuncOp("k", type_, Region(self.block))
        op.attributes["gpu.kernel"] = UnitAttr()
        module = ModuleOp([op])
        for each in PIPELINE:
            module.verify()
            each.apply(Context(), module)
        assert not [each for each in module.walk() if isinstance(each, CuteOp) or _holds_cute(each)]
        out = np.zeros((THREADS, max(stored, 1)), np.int64)
        args = [np.append(numbers.reshape(-1), 0), out.reshape(-1)]
        results = tw.interpret(module, grid=(1,), block=(THREADS,), args=args)
        return results[1].reshape(THREADS, -1)[:, :stored]


def _holds_cute(op: Operation) -> bool:
    values = (*op.results, *op.operands)
    return any(isinstance(each.type, CuteType) for each in values)


def computed(
    op: type[InferredOp], operands: Sequence[Typed], numbers: np.ndarray
) -> Iterator[tuple[Typed, ...]]:
    """For each thread, its operands and then its result."""
    kernel = Kernel(numbers.shape[1])
    values = [kernel.value(typed) for typed in operands]
    try:
        made = op.build_from(*values)
    except VerifyException:
        assume(False)
        raise
    kernel.emitter.add(made)
    (result,) = made.results
    assert isinstance(result.type, CuteType)
    stored = kernel.run(numbers, kernel.store(result))
    for row, after in zip(numbers.tolist(), stored.tolist(), strict=True):
        leaves = iter(row)
        filled = [
            _filled(typed, [next(leaves) for _ in dynamic_leaves(typed)]) for typed in operands
        ]
        yield (*filled, _filled(result.type.typed, after))


def _filled(typed: Typed, numbers: list[Any]) -> Typed:
    """The value with numbers in the place of its dynamic leaves."""
    return with_dynamic_leaves(typed, numbers)


# --- values ---------------------------------------------------------------------------------------


@st.composite
def hidden(draw: st.DrawFn, t: Any) -> Any:
    """The tuple with some of its numbers hidden, a few of them 64 bits wide."""
    widths = st.sampled_from([None, 32, 32, 64])
    leaves = [x if (w := draw(widths)) is None else Dynamic(w) for x in flatten(t)]
    return unflatten(tuple(leaves), t)


@st.composite
def shapes(draw: st.DrawFn) -> Any:
    extents = st.sampled_from([1, 2, 3, 4, 6, 8])
    modes = st.one_of(extents, st.tuples(extents, extents))
    return draw(st.one_of(extents, st.tuples(modes, modes), st.tuples(modes, modes, modes)))


@st.composite
def layouts(draw: st.DrawFn) -> Typed:
    """A layout with hidden leaves."""
    shape = draw(shapes())
    stride = unflatten(tuple(draw(st.integers(0, 40)) for _ in flatten(shape)), shape)
    return Typed("layout", make_unchecked(draw(hidden(shape)), draw(hidden(stride))))


def numbers_of(draw: st.DrawFn, operands: Sequence[Typed], low: int = 1) -> np.ndarray:
    """Numbers for the dynamic leaves of all operands: [THREADS, leaves]."""
    count = sum(len(dynamic_leaves(typed)) for typed in operands)
    row = st.lists(st.integers(low, 9), min_size=count, max_size=count)
    return np.array([draw(row) for _ in range(THREADS)], np.int64).reshape(THREADS, count)


# --- laws -----------------------------------------------------------------------------------------


@law
@given(st.data())
def test_layout_eval(data: st.DataObject):
    operands = [Typed("coord", Dynamic(data.draw(st.sampled_from([32, 64])))), data.draw(layouts())]
    numbers = numbers_of(data.draw, operands)
    for coord, layout, result in computed(LayoutEvalOp, operands, numbers):
        assert result.value == layout.value(coord.value)


@law
@given(st.data())
def test_crd2idx_of_a_shape(data: st.DataObject):
    shape = data.draw(shapes())
    coord = unflatten(tuple(Dynamic(64) for _ in flatten(shape)), shape)
    operands = [Typed("coord", coord), Typed("shape", data.draw(hidden(shape)))]
    leaves = zip(flatten(shape), flatten(operands[1].value), strict=True)
    extents = [extent for extent, leaf in leaves if isinstance(leaf, Dynamic)]
    within = st.tuples(*(st.integers(0, extent - 1) for extent in flatten(shape)))
    rows = [[*data.draw(within), *extents] for _ in range(THREADS)]
    for place, known, result in computed(Crd2IdxOp, operands, np.array(rows, np.int64)):
        assert known.value == shape
        assert result.value == cute.crd2idx(place.value, shape)


@law
@given(st.data())
def test_size(data: st.DataObject):
    operands = [data.draw(layouts())]
    for layout, result in computed(SizeOp, operands, numbers_of(data.draw, operands)):
        assert result.value == layout.value.size()


@law
@given(st.data(), st.sampled_from([(TupleAddOp, 1), (TupleSubOp, -1)]))
def test_sums(data: st.DataObject, op: tuple[type[InferredOp], int]):
    made, sign = op
    shape = data.draw(shapes())
    operands = [Typed("int_tuple", data.draw(hidden(shape))) for _ in range(2)]
    numbers = numbers_of(data.draw, operands, low=-9)
    for a, b, result in computed(made, operands, numbers):
        pairs = zip(flatten(a.value), flatten(b.value), strict=True)
        assert flatten(result.value) == tuple(x + sign * y for x, y in pairs)


@law
@given(st.data())
def test_coalesce(data: st.DataObject):
    operands = [data.draw(layouts())]
    for layout, result in computed(CoalesceOp, operands, numbers_of(data.draw, operands)):
        assert equivalent(_layout(result), _layout(layout))


@law
@given(st.data())
def test_composition(data: st.DataObject):
    powers = st.sampled_from([1, 2, 4, 8])
    inner = Typed("layout", Layout(data.draw(powers), data.draw(powers)))
    shape = (data.draw(powers), data.draw(powers))
    stride = data.draw(hidden((1, shape[0])))
    operands = [Typed("layout", make_unchecked(shape, stride)), inner]
    for a, b, result in computed(CompositionOp, operands, numbers_of(data.draw, operands)):
        try:
            expected = cute.composition(_layout(a), _layout(b))
        except LayoutError:
            assume(False)
            raise
        assert equivalent(_layout(result), expected)


def _layout(typed: Typed) -> Layout:
    return Layout(typed.value.shape, typed.value.stride)


# --- one kernel, written out ----------------------------------------------------------------------

PRINTING = """
!shape = !cute.shape<"(?,4)">
!stride = !cute.stride<"(1,?{i64})">
!layout = !cute.layout<"(?,4):(1,?{i64})">
!offset = !cute.int_tuple<"?{i64}">
func.func @k(%n: i32, %m: i64, %out: memref<?xi64>) attributes {gpu.kernel} {
  %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = arith.index_cast %i : index to i32
  %s = cute.make_shape(%n) : (i32) -> !shape
  %d = cute.make_stride(%m) : (i64) -> !stride
  %l = cute.make_layout(%s, %d) : (!shape, !stride) -> !layout
  %c = cute.make_coord(%j) : (i32) -> !cute.coord<"?">
  %o = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !layout) -> !offset
  cute.print(%l) : !layout
  cute.print(%o) : !offset
  %x = cute.get_scalars<{only_dynamic}> (%o) : !offset
  memref.store %x, %out[%i] : memref<?xi64>
  func.return
}
"""


def test_what_is_printed(capsys: pytest.CaptureFixture[str]):
    module = parse_module(PRINTING)
    for each in PIPELINE:
        each.apply(Context(), module)
    big = 1 << 40
    (out,) = tw.interpret(module, grid=(1,), block=(5,), args=[3, big, np.zeros(5, np.int64)])
    offsets = [0, 1, 2, big, big + 1]
    assert out.tolist() == offsets
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"(3,4):(1,{big})"] * 5 + [str(each) for each in offsets]


PASSED = """
!layout = !cute.layout<"((?,2),4):((?,1),?{i64})">
func.func @k(%l: !layout, %out: memref<?xi64>) attributes {gpu.kernel} {
  %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = arith.index_cast %i : index to i32
  %c = cute.make_coord(%j) : (i32) -> !cute.coord<"?">
  %o = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !layout) -> !cute.int_tuple<"?{i64}">
  %x = cute.get_scalars<{only_dynamic}> (%o) : !cute.int_tuple<"?{i64}">
  memref.store %x, %out[%i] : memref<?xi64>
  func.return
}
"""


def test_a_layout_as_an_argument():
    module = parse_module(PASSED)
    for each in PIPELINE:
        each.apply(Context(), module)
    layout = Layout(((3, 2), 4), ((5, 1), 1 << 33))
    args = [(3, (5, 1 << 33)), np.zeros(24, np.int64)]
    (out,) = tw.interpret(module, grid=(1,), block=(24,), args=args)
    assert out.tolist() == [layout(i) for i in range(24)]


def test_what_fails_is_shown_in_the_source():
    text = PRINTING.replace("make_shape(%n)", "make_shape(%p)")
    text = text.replace("  %s = ", "  %p = ub.poison : i32\n  %s = ")
    module = parse_module(text, "k.mlir")
    for each in PIPELINE:
        each.apply(Context(), module)
    line = 1 + next(i for i, each in enumerate(text.splitlines()) if "layout_eval" in each)
    with pytest.raises(
        tw.ExecutionError, match=f"^k.mlir:{line}:3: error: 'arith.divsi' use of an"
    ):
        tw.interpret(module, grid=(1,), block=(1,), args=[3, 4, np.zeros(1, np.int64)])
