"""Where a kernel that is being lowered goes: ops at the end of a block, pure ones once."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
)
from xdsl.dialects.math import AbsIOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.ancestors import terminator
from tilewright.lowering.value_numbering import ValueNumbering

_NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])
_INDEX = IndexType()
_BIT = IntegerType(1)
_TYPES: dict[int | None, Attribute] = {
    None: _INDEX,
    **{width: IntegerType(width) for width in (1, 8, 16, 32, 64)},
}
"""The type of integers of a width; None is `index`."""

_COMPARED = {"eq": 0, "ne": 1, "lt": 2, "gt": 4}
"""arith.cmpi's numbers of the signed relations."""

_OPS: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "div": arith.DivSIOp,
    "udiv": arith.DivUIOp,
    "mod": arith.RemSIOp,
    "umod": arith.RemUIOp,
    "ceil_div": arith.CeilDivSIOp,
    "min": arith.MinSIOp,
    "max": arith.MaxSIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
    "shl": arith.ShLIOp,
    "shr": arith.ShRUIOp,
}
_WITH_OVERFLOW = ("add", "sub", "mul")


@cache
def _number(number: int, width: int | None) -> Attribute:
    return IntegerAttr(number, _TYPES[width])  # type: ignore[arg-type]


LaunchNumber = gpu.ThreadIdOp | gpu.BlockIdOp | gpu.GridDimOp


class Emitter(ValueNumbering):
    """The end of a block, and the values that are known there.

    What a nested block computes is forgotten behind it: it does not dominate what follows.
    `straight` is the block that threads go through once: the entry, or what a role of them does.
    Without `fold` every operation is an op of its own, as CuTe IR is expanded: that IR is not to
    show what the emitter knows.
    """

    def __init__(self, block: Block, *, fold: bool = True):
        super().__init__()
        self.entry = self.straight = self.block = block
        self.fold = fold
        self.location: LocationAttr | None = None
        self._kinds: dict[tuple[Any, ...], tuple[int, Sequence[Any]]] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}

    # --- ops ---

    def add(self, op: Operation) -> Operation:
        """Append an op."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op

    def emit(self, op: Operation) -> SSAValue:
        """Append an op; its first result."""
        return self.add(op).results[0]

    def kind(self, op: type[Operation], *attributes: Any) -> int:
        """A number for a kind of ops and attributes, quicker in a key than these themselves."""
        ids = (op, *map(id, attributes))
        if (known := self._kinds.get(ids)) is None:
            number = self._numbers.setdefault((op, *attributes), len(self._numbers))
            known = self._kinds[ids] = number, attributes
        return known[0]

    def once(self, key: tuple[Any, ...], build: Callable[[], Operation]) -> SSAValue:
        """The result of a pure op that this key identifies."""
        return self.every(key, build)[0]

    def every(self, key: tuple[Any, ...], build: Callable[[], Operation]) -> Sequence[SSAValue]:
        """The results of a pure op that this key identifies."""
        if (values := self.known.get(key)) is None or not self.fold:
            values = self.known[key] = self.add(build()).results
            self.keys[-1].append(key)
        return values

    def pure(
        self, kind: type[Operation], operands: Sequence[SSAValue], result: Attribute,
        properties: dict[str, Attribute],
    ) -> SSAValue:  # fmt: skip
        """The result of a pure op; an earlier one of the same operands where there is one."""
        return self.emits(kind, result, properties)(*operands)

    def emits(
        self, kind: type[Operation], result: Attribute, properties: dict[str, Attribute]
    ) -> Callable[..., SSAValue]:
        """The results of pure ops of a kind, by their operands."""
        number, types = self.kind(kind, result, *properties.values()), (result,)

        def emit(*operands: SSAValue) -> SSAValue:
            key = (number, *operands)
            if (values := self.known.get(key)) is None:
                op = kind.create(operands=operands, result_types=types, properties=properties)
                values = self.known[key] = self.add(op).results
                self.keys[-1].append(key)
            return values[0]

        return emit

    def enter(self, block: Block) -> Block:
        """Go on in a nested block; the block to come back to."""
        outer, self.block = self.block, block
        self.keys.append([])
        return outer

    def leave(self, outer: Block) -> None:
        """Go back."""
        self.block = outer
        self.leave_scope()

    def region(self, build: Callable[..., object], *arg_types: Attribute) -> Region:
        """A region of one block, which `build` emits, given its arguments, and ends."""
        outer = self.enter(block := Block(arg_types=arg_types))
        build(*block.args)
        self.leave(outer)
        return Region(block)

    def when(
        self,
        condition: SSAValue,
        body: Callable[[], object],
        otherwise: Callable[[], object] | None = None,
    ) -> Operation:
        """A branch: what `body` emits under a condition, what `otherwise` does where it fails."""

        def branch(build: Callable[[], object]) -> None:
            build()
            self.add(scf.YieldOp())

        then = self.region(lambda: branch(body))
        other = Region() if otherwise is None else self.region(lambda: branch(otherwise))
        return self.add(scf.IfOp(condition, [], then, other))

    def either(
        self,
        condition: SSAValue,
        body: Callable[[], Sequence[SSAValue]],
        otherwise: Callable[[], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """The values that `body` emits under a condition, or `otherwise` where it fails."""
        then = self.region(lambda: self.add(scf.YieldOp(*body())))
        other = self.region(lambda: self.add(scf.YieldOp(*otherwise())))
        types = [value.type for value in yielded(then)]
        return self.add(scf.IfOp(condition, types, then, other)).results

    def loop(
        self,
        bounds: tuple[SSAValue, SSAValue, SSAValue],
        values: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """The values that a loop over a range, of its lower bound, its upper one and its step, ends
        with: `body` emits an iteration of a number, which begins with some and ends with others."""

        def iterate(number: SSAValue, *carried: SSAValue) -> None:
            self.add(scf.YieldOp(*body(number, carried)))

        region = self.region(iterate, bounds[0].type, *(value.type for value in values))
        return self.add(scf.ForOp(*bounds, values, region)).results

    # --- integers ---

    def of_launch(self, kind: type[LaunchNumber], axis: str = "x") -> SSAValue:
        """A number of the thread or of its CTA along an axis, or how many there are."""
        return self.once((kind, axis), lambda: kind(gpu.DimensionAttr(gpu.DimensionEnum(axis))))

    def constant(self, number: int, width: int | None) -> SSAValue:
        """An integer of some width, or an index."""
        type_ = _TYPES[width]

        def build() -> Operation:
            value = {"value": _number(number, width)}
            return arith.ConstantOp.create(properties=value, result_types=[type_])

        return self.once(("constant", number, width), build)

    def resized(self, value: SSAValue, width: int | None, wanted: int | None) -> SSAValue:
        """An integer in another width; None is an index."""
        if width == wanted:
            return value
        if wanted is None or width is None:
            cast: type[Operation] = arith.IndexCastOp
        elif wanted < width:
            cast = arith.TruncIOp
        else:
            cast = arith.ExtUIOp if width == 1 else arith.ExtSIOp
        result = [_TYPES[wanted]]
        return self.once(
            (cast, value, wanted), lambda: cast.create(operands=[value], result_types=result)
        )

    def binary(self, name: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """The result of an operation on two integers of one type, or on one and a number."""
        op, b = _OPS[name], self._operand(a, b)
        properties = {"overflowFlags": _NSW} if name in _WITH_OVERFLOW else {}
        return self.once(
            (name, a, b),
            lambda: op.create(operands=[a, b], result_types=[a.type], properties=properties),
        )

    def _operand(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        if isinstance(b, SSAValue):
            return b
        return self.constant(b, None if isinstance(a.type, IndexType) else a.type.bitwidth)  # type: ignore[attr-defined]

    def compare(self, name: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """A signed comparison: eq, ne, lt or gt."""
        b = self._operand(a, b)
        predicate = {"predicate": _number(_COMPARED[name], 64)}
        return self.once(
            (name, a, b),
            lambda: arith.CmpiOp.create(operands=[a, b], result_types=[_BIT], properties=predicate),
        )

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """a where the condition holds, else b."""
        return self.once(
            ("select", condition, a, b),
            lambda: arith.SelectOp.create(operands=[condition, a, b], result_types=[a.type]),
        )

    def arithmetic(self, name: str, operands: Sequence[SSAValue]) -> SSAValue:
        """An operation by the name that the algebra has for it."""
        if name == "abs":
            (a,) = operands
            return self.once(("abs", a), lambda: AbsIOp(a))
        a, b = operands
        return self.compare(name, a, b) if name in _COMPARED else self.binary(name, a, b)


def yielded(region: Region) -> Sequence[SSAValue]:
    """The operands of the op that ends a region's block."""
    return terminator(region.block).operands


def zero_constant(element: Attribute) -> arith.ConstantOp:
    """Zero of an element type."""
    if isa(element, IntegerType):
        return arith.ConstantOp(IntegerAttr(0, element))
    assert isinstance(element, AnyFloat)
    return arith.ConstantOp(FloatAttr(0.0, element))
