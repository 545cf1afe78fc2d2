"""`cute-to-base`: what `cute-expand-ops` leaves, as structs of the dynamic leaves.

    %l = cute.make_layout(%s, %d)
        : (!cute.shape<"(?,4)">, !cute.stride<"(1,4)">) -> !cute.layout<"(?,4):(1,4)">
    %n = cute.get_scalars<{only_dynamic}> (%l) : !cute.layout<"(?,4):(1,4)">
becomes
    %0 = ub.poison : !llvm.struct<(i32, struct<()>)>
    %1 = llvm.insertvalue %s, %0[0] : !llvm.struct<(i32, struct<()>)>
    %l = llvm.insertvalue %d, %1[1] : !llvm.struct<(i32, struct<()>)>
    %n = llvm.extractvalue %l[0] : !llvm.struct<(i32, struct<()>)>
"""

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    ModuleOp,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.dialects.llvm import ExtractValueOp, InsertValueOp, LLVMStructType
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute.ops.accessors import GetScalarsOp
from tilewright.dialects.cute.ops.constructors import (
    LeavesOp,
    MakeComposedLayoutOp,
    MakeLayoutOp,
    PrintOp,
    StaticOp,
)
from tilewright.dialects.cute.ops.operation import CuteOp
from tilewright.dialects.cute.rules.accessors import get_scalars
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.leaves import width_of_type
from tilewright.lowering.to_base.convert_print import Prints
from tilewright.lowering.to_base.replace import replace
from tilewright.lowering.to_base.struct_types import (
    Path,
    convert_types,
    field_type,
    integer_paths,
    parts_of,
)
from tilewright.source.diagnostic import OpError


@frozen
class CuteToBasePass(ModulePass):
    """Replace what `cute-expand-ops` leaves of the `cute` dialect by `llvm`, `arith`, `ub` and
    `gpu`, and its types, in signatures and regions too, by LLVM's."""

    name = "cute-to-base"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        prints = Prints()
        ops = [_Lowering(inner, prints) for inner in descendants(op, CuteOp)]
        convert_types(op)
        for lowering in ops:
            lowering.replace()
        for inner in list(op.walk()):
            if isinstance(inner, UnrealizedConversionCastOp):
                _drop_identity(inner)


def _drop_identity(cast: UnrealizedConversionCastOp) -> None:
    """Erase a cast between types that have become the same."""
    if [value.type for value in cast.inputs] == [result.type for result in cast.results]:
        Rewriter.replace_op(cast, [], list(cast.inputs))


class _Lowering:
    """An op, what its operands were before their types changed, and where its code goes."""

    def __init__(self, op: CuteOp, prints: Prints):
        self.op = op
        self.prints = prints
        self.rule = next((rule for kind, rule in _RULES if isinstance(op, kind)), None)
        if self.rule is None:
            raise OpError(
                op,
                f"'{op.name}' expected an op that cute-expand-ops leaves, got one that it expands; "
                "nearest legal: cute-expand-ops,cute-to-base",
            )
        self.operands = [
            operand.type.typed if isinstance(operand.type, CuteType) else None
            for operand in op.operands
        ]

    def replace(self) -> None:
        """Put the op's code in its place."""
        replace(self.op, self._emitted)

    def _emitted(self, emitter: Emitter) -> Sequence[SSAValue]:
        assert self.rule is not None
        self.emitter = emitter
        return self.rule(self)

    def number(self, value: int, type_: Attribute) -> SSAValue:
        """A constant."""
        return self.emitter.constant(value, width_of_type(type_))

    def sized(self, value: SSAValue, width: int) -> SSAValue:
        """An integer in at least its own width."""
        return self.emitter.resized(value, width_of_type(value.type), width)

    def poison(self) -> SSAValue:
        """A value of the result's type with nothing in it."""
        return self.emitter.emit(PoisonOp(self.op.results[0].type))

    def inserted(self, container: SSAValue, value: SSAValue, path: Path) -> SSAValue:
        """The struct with one field set."""
        return self.emitter.emit(InsertValueOp(_position(path), container, value))

    def extracted(self, container: SSAValue, path: Path) -> SSAValue:
        """A field; the whole at ()."""
        if not path:
            return container
        type_ = field_type(container.type, path)
        return self.emitter.emit(ExtractValueOp(_position(path), container, type_))


def _position(path: Path) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, path)


# --- a rule for each op ---------------------------------------------------------------------------


def _static(of: _Lowering) -> Sequence[SSAValue]:
    return [of.poison()]


def _make_from_leaves(of: _Lowering) -> Sequence[SSAValue]:
    type_ = of.op.results[0].type
    paths = list(integer_paths(type_))
    leaves = [
        of.number(typed.value, field_type(type_, path))
        if typed is not None and isinstance(typed.value, int)
        else operand
        for operand, typed, path in zip(of.op.operands, of.operands, paths, strict=True)
    ]
    if not isinstance(type_, LLVMStructType):
        return leaves
    result = of.poison()
    for leaf, path in zip(leaves, paths, strict=True):
        result = of.inserted(result, leaf, path)
    return [result]


def _make_from_parts(of: _Lowering) -> Sequence[SSAValue]:
    parts = list(of.op.operands)
    if isinstance(of.op, MakeComposedLayoutOp):
        parts.reverse()
    result = of.poison()
    for i, part in enumerate(parts):
        result = of.inserted(result, part, (i,))
    return [result]


def _get_scalars(of: _Lowering) -> Sequence[SSAValue]:
    (source,), (typed,) = of.op.operands, of.operands
    assert typed is not None
    paths = integer_paths(source.type)
    leaves = get_scalars(typed, "only_dynamic" in of.op.properties)
    return [
        of.sized(of.extracted(source, next(paths)), width_of_type(result.type))
        if isinstance(leaf, Dynamic)
        else of.number(leaf, result.type)
        for leaf, result in zip(leaves, of.op.results, strict=True)
    ]


def _print(of: _Lowering) -> Sequence[SSAValue]:
    (source,), (typed,) = of.op.operands, of.operands
    assert typed is not None
    # What printf takes is at least an int.
    leaves = _leaves(of, typed, source)
    wide = [of.sized(leaf, max(32, width_of_type(leaf.type))) for leaf in leaves]
    of.prints.emit(of.op, of.emitter, typed.printf_format, wide)
    return []


def _leaves(of: _Lowering, typed: Typed, value: SSAValue) -> list[SSAValue]:
    """The dynamic leaves of a value in the order of its text."""
    if typed.kind != "composed_layout":
        return [of.extracted(value, path) for path in integer_paths(value.type)]
    parts = [(part, of.extracted(value, (i,))) for i, part in enumerate(parts_of(typed))]
    return [leaf for part, field in reversed(parts) for leaf in _leaves(of, part, field)]


_RULES: tuple[tuple[type[CuteOp], Callable[[_Lowering], Sequence[SSAValue]]], ...] = (
    (StaticOp, _static),
    (LeavesOp, _make_from_leaves),
    (MakeLayoutOp, _make_from_parts),
    (MakeComposedLayoutOp, _make_from_parts),
    (GetScalarsOp, _get_scalars),
    (PrintOp, _print),
)
"""The rule of each op that cute-expand-ops leaves."""
