"""The state of one conversion to `ptx`, and the rules that drive it.

The IR is walked once, in order. A rule lowers one op type; `Conversion` maps the values of the
source to registers, numbers pure instructions so that none is emitted twice where the first
dominates, and places a pure instruction outside the loops in which nothing it reads changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import LocationAttr, NameLoc, StringAttr, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ancestors import body_ops
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice.data_movement import CLUSTER_SPACE
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.frozen import entity, frozen
from tilewright.dialects.locations import unverified
from tilewright.dialects.op_rules import OpRules
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import IN_PLACE, ConstOp
from tilewright.dialects.ptx.scalars import AddOp, CvtOp, DivOp, MadOp, MulOp, RemOp, ShlOp
from tilewright.dialects.ptx.types import KINDS, RegType
from tilewright.lowering.value_numbering import ValueNumbering

Rule = Callable[[Any, "Conversion"], Any]

RULES = OpRules[Rule]()
"""How each op type lowers, to what its result or a list of its results becomes, or to None where
its rule says it; the convert_* modules fill it."""

lowers = RULES.of


@entity
class Scope:
    """Where instructions go: a block whose instructions dominate all nested scopes.

    `loop` says that the scope is part of a loop that its parent is not, or is the body behind
    a loop's `header`, so that what does not change in it may move out.
    """

    block: Block
    parent: Scope | None
    loop: bool
    header: bool
    depth: int


@dataclass
class SharedAllocation:
    """The kernel's shared memory so far: one arena, handed out in order."""

    size: int = 0
    align: int = 16

    def take(self, size: int, align: int) -> int:
        """The offset of a new piece."""
        offset = -(-self.size // align) * align
        self.size = offset + size
        self.align = max(self.align, align)
        return offset


@frozen
class Tile:
    """A memref whose address is known: `strides` in elements, or `layout` where it has one.

    `base` is the address of its buffer, from which `memref.reinterpret_cast` counts offsets.
    """

    space: Space
    base: SSAValue
    address: SSAValue
    element_bytes: int
    strides: tuple[int | SSAValue, ...]
    layout: AnyLayout | None = None

    @property
    def ptx_space(self) -> str:
        """The `.space` of PTX's loads and stores."""
        match self.space:
            case Space.SMEM:
                return "shared"
            case Space.DSMEM:
                return CLUSTER_SPACE
            case _:
                return "global"

    @property
    def index_type(self) -> str:
        """The instruction type that computes its addresses."""
        return "u32" if self.space.is_shared else "s64"

    @property
    def address_kind(self) -> str:
        """The kind of the registers of its addresses."""
        return "b32" if self.space.is_shared else "b64"


class Conversion(ValueNumbering):
    """Lowers the body of one kernel into the region of a `ptx.entry`, for `arch` where it is
    named."""

    def __init__(self, region: Region, arch: Target | None):
        super().__init__()
        self.region, self.arch = region, arch
        self.shared = SharedAllocation()
        self.local = 0
        """The bytes of local memory, which is of one call after the other."""
        self.values: dict[SSAValue, Any] = {}
        self.scope = Scope(region.blocks[0], None, False, False, 0)
        self.blocks: dict[Block, Block] = {}
        self.known_bits: dict[tuple[SSAValue, int], int] = {}
        self._depth: dict[SSAValue, int] = {}
        """How many scopes are around a register."""
        self._location: LocationAttr | None = None
        self._places: dict[tuple[str, int], NameLoc] = {}
        self._blocks = 0

    # Values

    def __getitem__(self, value: SSAValue) -> SSAValue:
        """The registers that hold a source value."""
        return self.values[value]

    def tile(self, value: SSAValue) -> Tile:
        """The memory that a source memref stands for."""
        return self.values[value]

    def block_of(self, block: Block) -> Block:
        """The block that a block of a multi-block source body became."""
        return self.blocks[block]

    def given(self, value: SSAValue | None) -> SSAValue | None:
        """The registers of an operand that may be left out."""
        return None if value is None else self.values[value]

    def __setitem__(self, value: SSAValue, lowered: Any) -> None:
        self.values[value] = lowered

    def bind_argument(self, argument: SSAValue) -> None:
        """Say that a block argument of the region is defined in the current scope."""
        self._depth[argument] = self.scope.depth

    # Walking

    def lower(self, op: Operation) -> None:
        """Lower one op by its rule. Raises OpError where there is none."""
        rule = RULES.rule(op, "has no lowering to ptx")
        outer, source = self._location, op.location
        # What an op becomes says what it was; the source keeps its own location alive.
        if (place := self._places.get(key := (op.name, id(source)))) is None:
            place = unverified(NameLoc, desc=unverified(StringAttr, data=op.name), location=source)
            self._places[key] = place
        self._location = place
        became = rule(op, self)
        if became is not None:
            values: Any = became if isinstance(became, list) else [became]  # pyright: ignore
            self.values.update(zip(op.results, values, strict=True))
        if IN_PLACE in op.attributes:
            self[op.results[0]].owner.attributes[IN_PLACE] = UnitAttr()  # type: ignore[union-attr]
        self._location = outer

    def lower_block(self, block: Block) -> None:
        """Lower the ops of a block but its terminator, into the current scope."""
        for op in body_ops(block):
            self.lower(op)

    # Blocks: put into the region when code first goes into them, in the order of the source

    def new_block(self, name: str, arg_types: Sequence[RegType] = ()) -> Block:
        """A block that is not in the region yet."""
        block = Block(arg_types=arg_types)
        block.name_hint = name
        return block

    def fresh(self, name: str) -> str:
        """A name for the blocks of one structured op: `for1`, `if2`."""
        self._blocks += 1
        return f"{name}{self._blocks}"

    def enter(self, block: Block, *, loop: bool = False, header: bool = False) -> None:
        """Go on in a block that the current one dominates, as a nested scope."""
        self.scope = Scope(block, self.scope, loop, header, self.scope.depth + 1)
        self.keys.append([])
        self.proceed(block)

    def leave(self) -> None:
        """Go back to the enclosing scope."""
        parent = self.scope.parent
        assert parent is not None
        self.leave_scope()
        self.scope = parent

    def proceed(self, block: Block) -> None:
        """Let the current scope go on in a block."""
        if block.parent is None:
            self.region.add_block(block)
        self.scope.block = block
        for argument in block.args:
            self.bind_argument(argument)

    # Emitting

    def add(self, op: Operation) -> None:
        """Append an op to the current block."""
        self._place(op, self.scope)

    def emit(self, op: Operation) -> SSAValue:
        """Append an op that has one result, and return the result."""
        self._place(op, self.scope)
        return op.results[0]

    def _place(self, op: Operation, scope: Scope) -> None:
        if self._location is not None:
            op.location = self._location
        block = scope.block
        if scope is not self.scope and (last := block.last_op) is not None and last.successors:
            block.insert_op_before(op, last)
        else:
            block.add_op(op)
        for result in op.results:
            self._depth[result] = scope.depth

    def pure(self, op_type: Callable[..., Operation], *arguments: Any) -> SSAValue:
        """The value of a pure instruction of these arguments: an earlier one, or a new one."""
        key = (op_type, *arguments)
        if (known := self.known.get(key)) is not None:
            return known
        op = op_type(*arguments)
        return self._number(key, op.operands, op)

    def _number(self, key: tuple[Any, ...], inputs: Sequence[SSAValue], op: Operation) -> SSAValue:
        """The result of a new pure instruction, which its key identifies from here on."""
        scope = self.scope
        if scope.loop:
            scope = self._outermost(inputs)
        self._place(op, scope)
        result = self.known[key] = op.results[0]
        self.keys[scope.depth].append(key)
        return result

    def _outermost(self, inputs: Sequence[SSAValue]) -> Scope:
        """The outermost scope that loops alone separate from here, with all inputs defined."""
        scope = best = self.scope
        depth = 0
        for value in inputs:
            if (own := self._depth[value]) > depth:
                depth = own
        while scope.loop and scope.depth > depth and scope.parent is not None:
            scope = scope.parent
            # What moves goes before a loop, not into the header that every round runs.
            best = best if scope.header else scope
        return best

    def scalar(self, op_type: type[ScalarOp], form: str, *inputs: SSAValue) -> SSAValue:
        """The result of a scalar instruction."""
        # A division is not moved out of its loop: the interpreter would trap where the source
        # never divides.
        if op_type is DivOp or op_type is RemOp:
            return self.emit(op_type(form, inputs))
        key = (op_type, form, *inputs)
        if (known := self.known.get(key)) is not None:
            return known
        return self._number(key, inputs, op_type(form, inputs))

    def const(self, value: int, kind: str) -> SSAValue:
        """A constant of a register kind, by its bits."""
        value = signed(value, KINDS[kind])
        return self.pure(ConstOp, value, kind)

    # Arithmetic that folds what it can

    def plus(self, a: SSAValue, b: SSAValue, type_: str) -> SSAValue:
        """a + b."""
        if constant(a) == 0:
            return b
        if constant(b) == 0:
            return a
        return self.scalar(AddOp, type_, a, b)

    def times(self, a: SSAValue, factor: int, type_: str) -> SSAValue:
        """a * factor."""
        kind = a.type.kind.data if isinstance(a.type, RegType) else "b64"
        if (known := constant(a)) is not None:
            return self.const(known * factor, kind)
        if factor == 1:
            return a
        if factor > 0 and factor & (factor - 1) == 0:
            amount = self.const(factor.bit_length() - 1, "b32")
            return self.scalar(ShlOp, f"b{type_[1:]}", a, amount)
        return self.scalar(MulOp, f"lo.{type_}", a, self.const(factor, kind))

    def multiply_add(self, a: SSAValue, b: SSAValue, c: SSAValue, type_: str) -> SSAValue:
        """a * b + c."""
        if (known := constant(b)) is not None:
            return self.plus(self.times(a, known, type_), c, type_)
        if (known := constant(a)) is not None:
            return self.plus(self.times(b, known, type_), c, type_)
        if constant(c) == 0:
            return self.scalar(MulOp, f"lo.{type_}", a, b)
        return self.scalar(MadOp, f"lo.{type_}", a, b, c)

    def narrow(self, value: SSAValue) -> SSAValue:
        """The low 32 bits of a 64-bit value."""
        owner = value.owner
        if (known := constant(value)) is not None:
            return self.const(known, "b32")
        if isinstance(owner, CvtOp) and owner.form.data in ("s64.s32", "u64.u32"):
            return owner.inputs[0]
        if isinstance(owner, AddOp) and constant(owner.inputs[1]) is not None:
            low = [self.narrow(addend) for addend in owner.inputs]
            return self.plus(low[0], low[1], "u32")
        return self.scalar(CvtOp, "u32.u64", value)


def signed(value: int, bits: int) -> int:
    """The value that the low `bits` bits mean as a signed integer."""
    value %= 1 << bits
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def constant(value: SSAValue) -> int | None:
    """The signed value of a constant register, or None where it is none."""
    owner = value.owner
    return owner.bits.value.data if isinstance(owner, ConstOp) else None
