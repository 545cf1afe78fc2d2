"""Tile-level IR from a front end: attributes by their text, ops by their names.

    mma = cute("make_tiled_mma", '!cute.tiled_mma<...>')
    mine = cute("tiled.mma.partition", mma, tile, thread, operand_id="A")
    here = cute("slice", mine, coord(None, None, None, stage))

Each gives an op, for xDSL's builder to insert, or in `building(block)` for that block; result types
are inferred, and its location is the line of Python that made it: `located` says so of other ops.
Where a front end stands between, `beneath` says that its lines do not count, `lines_of` whose do.
`kernel` is the function that such ops make; `thread_id`, `for_loop` and others are what most have.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from inspect import signature
from typing import Any, Literal, cast

import numpy as np
from typing_extensions import TypeIs
from xdsl.builder import Builder, ImplicitBuilder
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright.arguments.dtypes import DTYPES, dtype_of_element
from tilewright.arguments.parameters import wrong_count
from tilewright.dialects.cute.dialect import CUTE
from tilewright.dialects.cute.ops.constructors import StaticOp
from tilewright.dialects.cute.ops.operation import CuteOp
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.lattice.launch import MAX_THREADS
from tilewright.dialects.field_counts import Arity
from tilewright.dialects.illegal import Illegal, told
from tilewright.dialects.op_facts import SEGMENTS
from tilewright.source import checked
from tilewright.source.checked import Rule, checking, number_from, unknown_name
from tilewright.source.diagnostic import CompileError, Diagnostic, at
from tilewright.source.parsing import default_context
from tilewright.source.python_lines import beneath, lines_of, located, python_line

__all__ = [
    "array_type", "attribute", "beneath", "block_id", "building", "coord", "cute", "for_loop",
    "if_then", "kernel", "leaves", "lines_of", "located", "thread_id",
]  # fmt: skip

beneath(__file__)
beneath(checked.__file__)
_OPS = {op.name.removeprefix("cute."): op for op in CUTE.operations}


@checking({})
@cache
def attribute(text: str) -> Any:
    """A type, or another attribute, as IR spells it. Raises CompileError."""
    try:
        parser = Parser(default_context(), text)
        parsed = parser.parse_attribute()
        if parser.pos < len(text.rstrip()):
            parser.raise_error("expected one attribute")
        return parsed
    except (ParseError, VerifyException, UnicodeError) as error:
        message = error.msg if isinstance(error, ParseError) else str(error)
        raise CompileError(Diagnostic(f"{message.strip()} in {told(text)}")) from None


@checking({})
def cute(name: str, *operands: Any, **properties: Any) -> Operation:
    """An op of the `cute` dialect, which is called `cute.NAME`.

    Where its results follow from its operands, those and its properties make it. An op that its
    type says in full takes the type, or its text: `cute("memref.alloc", "!cute.memref<...>")`;
    `copy` and `gemm` take what their constructors take. A property may be a number, several, or a
    word. Raises CompileError at the line that is at work for an unknown name, and for operands that
    the op does not take.
    """
    try:
        return located(_op(name, operands, properties))
    except (ValueError, VerifyException) as error:
        if isinstance(error, CompileError) and error.line is not None:
            raise
        message = error.message if isinstance(error, CompileError) else str(error)
        raise CompileError(at(python_line(), message)) from None


def _op(name: str, operands: Sequence[Any], properties: dict[str, Any]) -> Operation:
    op = _OPS.get(name)
    if op is None:
        nearest = get_close_matches(name, _OPS, n=1, cutoff=0)[0]
        raise ValueError(
            f"expected an op of the cute dialect, got 'cute.{name}'; nearest legal: cute.{nearest}"
        )
    if not is_inferred(op):
        given = [attribute(item) if isinstance(item, str) else item for item in operands]
        legal = list(signature(op).parameters)
        if why := unknown_name(op.name, legal, properties):
            raise ValueError(why)
        try:
            return op(*given, **properties)
        except (AttributeError, TypeError):
            raise ValueError(
                f"'{op.name}' expected what its constructor takes, {', '.join(legal)}, got "
                f"{told((*operands, properties))}"
            ) from None
    legal = [key for key in op.facts.definition.properties if key != SEGMENTS]
    if why := unknown_name(op.name, legal, properties):
        raise ValueError(why)
    properties = {key: _property(value) for key, value in properties.items()}
    op.facts.verify_properties(op, properties)
    for operand in operands:
        if not isinstance(operand, SSAValue | Operation):
            raise ValueError(
                f"'{op.name}' expected values and ops as operands, got {told(operand)}"
            )
    values = [SSAValue.get(operand) for operand in operands]
    places = op.facts.operands
    if len(values) != len(places) and all(place.arity is Arity.ONE for place in places):
        raise ValueError(
            f"'{op.name}' {wrong_count([place.name for place in places], len(values))}"
        )
    try:
        types = op.infer(tuple(value.type for value in values), properties)
    except (VerifyException, Illegal) as error:
        raise ValueError(f"'{op.name}' {error}") from None
    return op.create(operands=values, result_types=types, properties=properties)


def is_inferred(op: type[Operation]) -> TypeIs[type[CuteOp]]:
    """True where the results of an op follow from its operands and properties."""
    return issubclass(op, CuteOp) and op.infer.__func__ is not CuteOp.infer.__func__


def _property(value: Any) -> Attribute:
    match value:
        case str():
            return attribute(value) if value.startswith("#") else StringAttr(value)
        case int():
            return IntegerAttr(value, i32)
        case list():
            numbers = cast("list[int]", value)
            return DenseArrayBase.from_list(i32, numbers)
        case _:
            return value


@checking({})
def leaves(kind: str, text: str, *values: SSAValue) -> Operation:
    """A value of the algebra, its dynamic leaves filled: `leaves("shape", "(128,?)", n)`."""
    type_ = attribute(f'!cute.{kind}<"{text}">')
    if not values:
        return located(StaticOp(type_))
    op = _OPS[f"make_{kind}"]
    return located(op.create(operands=values, result_types=[type_]))


@checking({})
def coord(*parts: SSAValue | int | None) -> Operation:
    """A coordinate, None being a mode that stays open: `coord(i, None)` is "(?,_)"."""
    words = ("_" if x is None else "?" if isinstance(x, SSAValue) else str(x) for x in parts)
    return leaves("coord", f"({','.join(words)})", *(x for x in parts if isinstance(x, SSAValue)))


VECTOR_BITS = 128
"""The most elements that one thread loads or stores at once."""


def _element(given: Any) -> str:
    dtype_of_element(given)
    return given


def _mlir(given: Any) -> str | None:
    name = np.dtype(given).name
    return next((f"'{mlir}'" for mlir, dtypes in DTYPES.items() if name in dtypes), None)


_ELEMENT = Rule("an element type such as 'bf16'", _element, _mlir)


@checking({"element": _ELEMENT, "rank": number_from(1, to=64)})
def array_type(element: str, rank: int) -> Any:
    """The type of a row-major array in global memory, an argument of a kernel: of any shape, but
    the rows whole 16 bytes, so that they can be copied as such."""
    run = VECTOR_BITS // element_bits(element)
    shape = "?," * (rank - 1) + f"?{{div={run}}}"
    stride = f"?{{i64 div={run}}}," * (rank - 1) + "1"
    return attribute(f'!cute.memref<{element}, gmem, align<16>, "({shape}):({stride})">')


@checking({"threads": number_from(1, to=MAX_THREADS)})
def kernel(name: str, types: Sequence[Attribute], threads: int) -> tuple[ModuleOp, Block]:
    """A module with one kernel for blocks of so many threads: the module, and the kernel's body,
    which has its arguments and returns."""
    body = Block([func.ReturnOp()], arg_types=types)
    function = func.FuncOp(name, FunctionType.from_lists(list(types), []), Region(body))
    function.attributes["gpu.kernel"] = UnitAttr()
    block_size = DenseArrayBase.from_list(i32, [threads, 1, 1])
    function.attributes["gpu.known_block_size"] = block_size
    return ModuleOp([located(function)]), body


# What most kernels have, made within `building`

Dimension = Literal["x", "y", "z"]
Carried = Sequence[SSAValue] | None


@contextmanager
def building(block: Block) -> Generator[None]:
    """Meanwhile ops that are made go into a block: before what ends it, or at its end."""
    end = block.last_op
    ended = end is not None and end.has_trait(IsTerminator)
    place = InsertPoint.before(end) if end is not None and ended else InsertPoint.at_end(block)
    with ImplicitBuilder(Builder(place)):
        yield


@checking({})
def thread_id(dimension: Dimension = "x") -> SSAValue:
    """The thread's number in its block, an i32."""
    return _number(gpu.ThreadIdOp(gpu.DimensionAttr(gpu.DimensionEnum(dimension))))


@checking({})
def block_id(dimension: Dimension = "x") -> SSAValue:
    """The block's number in the grid, an i32."""
    return _number(gpu.BlockIdOp(gpu.DimensionAttr(gpu.DimensionEnum(dimension))))


def _number(op: Operation) -> SSAValue:
    return located(arith.IndexCastOp(located(op), i32)).results[0]


@checking({})
def for_loop(
    count: SSAValue | int, body: Callable[..., Carried], *carried: SSAValue
) -> Sequence[SSAValue]:
    """`scf.for` of so many steps: `body(i, *carried)` makes the ops of one, i an i32 from 0 on, and
    returns what is carried on to the next. Its results are what the last one returned."""
    first, last, step = (
        number
        if isinstance(number, SSAValue)
        else located(arith.ConstantOp.from_int_and_width(number, 32)).results[0]
        for number in (0, count, 1)
    )
    block = Block(arg_types=[i32, *(value.type for value in carried)])
    with building(block):
        located(scf.YieldOp(*(body(*block.args) or ())))
    return located(scf.ForOp(first, last, step, carried, block)).results


@checking({})
def if_then(condition: SSAValue, then: Callable[[], Carried],
            other: Callable[[], Carried] | None = None) -> Sequence[SSAValue]:  # fmt: skip
    """`scf.if`: `then()` and `other()` make the ops of its branches, and return as many values of
    the same types, the results."""
    then_region, else_region = _branch(then), _branch(other) if other else Region()
    types = [value.type for value in cast("Any", then_region.block.last_op).operands]
    return located(scf.IfOp(condition, types, then_region, else_region)).results


def _branch(body: Callable[[], Carried]) -> Region:
    block = Block()
    with building(block):
        located(scf.YieldOp(*(body() or ())))
    return Region(block)
