"""The state of one kernel on its way from tiles to atoms, and the rules that drive it.

The kernel is walked once, in order, as a partial evaluator would run it: values of the algebra are
known but for their leaves, which are arithmetic; tensors are memory, an offset and a layout; what
is left over is emitted.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure

from tilewright.dialects.ancestors import body_ops
from tilewright.dialects.cute import ComposedLayout, Layout
from tilewright.dialects.cute.int_tuple import LayoutError, product_each
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp
from tilewright.dialects.cute.rules import RuleError
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.algebra import TypedAttribute, typed_of
from tilewright.dialects.cute.values import Typed, is_known
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflSyncOp
from tilewright.dialects.op_rules import OpRules
from tilewright.dialects.vectors import shape_of
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.leaves import Leaf, sized, width_of_type
from tilewright.lowering.emit.registers import NeverWritten, RegisterChunks
from tilewright.lowering.tile.arguments import Arguments
from tilewright.lowering.tile.facts import Facts
from tilewright.lowering.tile.places import Memory, Places, per_item
from tilewright.lowering.tile.vectors import (
    VectorValue,
    elementwise,
    elementwise_types,
    is_vector_op,
)
from tilewright.source.diagnostic import OpError

Rule = Callable[[Any, "KernelLowering"], None]

RULES = OpRules[Rule]()
"""How each op type lowers; the convert_* modules of this package fill it."""

lowers = RULES.of


class KernelLowering:
    """Lowers the body of one kernel, to the end of a block at a time."""

    def __init__(self, entry: Block, block_size: tuple[int, ...] | None):
        self.entry = entry
        self.emitter = Emitter(entry)
        self.facts = Facts(block_size)
        self.values: dict[SSAValue, Any] = {}
        self.arguments = Arguments(entry, self.facts, self.leaf)
        self.tensor_maps: dict[SSAValue, SSAValue] = {}
        self._places: dict[int, tuple[Layout, Places]] = {}
        self.block_size = block_size

    # --- values ---

    def __setitem__(self, value: SSAValue, lowered: Any) -> None:
        self.values[value] = lowered

    def __getitem__(self, value: SSAValue) -> SSAValue:
        """The SSA value that a value of the source is."""
        content = self.values[value]
        if isinstance(content, Typed) and content.kind == "scalar":
            return sized(self.emitter, content.value, width_of_type(value.type))
        assert isinstance(content, SSAValue), value
        return cast("SSAValue", content)

    def typed(self, value: SSAValue) -> Typed:
        """The value of the algebra that a value of the source is; an integer is a scalar."""
        known = self.values.get(value)
        if isinstance(known, Typed):
            return known
        if isinstance(known, SSAValue):
            lowered = cast("SSAValue", known)
            if isinstance(value.type, IntegerType):
                return Typed("scalar", self.leaf(lowered))
        static = typed_of(value.type)
        assert static is not None, value
        return static

    def tensor(self, value: SSAValue) -> Tensor:
        """The tensor that a value of the source is."""
        return self.typed(value).value

    def vector(self, value: SSAValue) -> VectorValue:
        """The vector that a value of the source is."""
        return self.values[value]

    def leaf(self, value: SSAValue) -> Scalar:
        """A leaf of the algebra from an integer of the kernel."""
        if (known := self.facts.constant(value)) is not None:
            return known
        fact = self.facts[value]
        width = width_of_type(value.type)
        return Leaf(value, width, self.emitter, factor=fact.factor, bound=fact.bound)

    def index(self, x: Scalar) -> SSAValue:
        """A leaf as an `index`."""
        return sized(self.emitter, x, None)

    # --- tensors ---

    def place(self, tensor: Tensor, at: Any) -> tuple[SSAValue, SSAValue]:
        """The memory of a tensor, and the index there of the element at a coordinate."""
        memory: Memory = tensor.base
        places = self.places(tensor.modes) if isinstance(at, int) else None
        offset = scalar.div(offset_of(tensor, at, places), per_item(tensor))
        return memory.value, self.index(offset)

    def places(self, modes: Layout) -> Places:
        """Where the elements of a layout are."""
        known = self._places.get(id(modes))
        if known is None:
            # The layout is kept as well, so that no other one gets its id.
            known = self._places[id(modes)] = (modes, Places(modes))
        return known[1]

    def registers(self, tensor: Tensor) -> RegisterChunks:
        """The registers of a tensor in rmem."""
        base = tensor.base
        assert isinstance(base, RegisterChunks)
        return base

    def read(self, op: Operation, tensor: Tensor, places: Sequence[int]) -> SSAValue:
        """Elements of a register tensor as a fragment. Raises OpError where there are none yet."""
        try:
            return self.registers(tensor).read(places, self.emitter)
        except NeverWritten:
            raise undefined(op) from None

    def read_elements(self, op: Operation, tensor: Tensor, places: Sequence[int]) -> list[SSAValue]:
        """Elements of a register tensor, one by one. Raises OpError where there are none yet."""
        registers = self.registers(tensor)
        try:
            return [registers.read_element(place, self.emitter) for place in places]
        except NeverWritten:
            raise undefined(op) from None

    # --- walking ---

    def erase_unused(self) -> None:
        """Erase pure ops whose results nobody reads."""
        erase_unused(self.entry)

    def lower_block(self, block: Block) -> None:
        """Lower the ops of a block but its terminator, to the end of the current block."""
        for op in body_ops(block):
            self.lower(op)

    def lower(self, op: Operation) -> None:
        """Lower one op by its rule. Raises OpError where there is none."""
        self.emitter.location = op.location
        rule = RULES.get(type(op))
        try:
            if rule is not None:
                rule(op, self)
                self._settle(op)
            elif isinstance(op, InferredOp):
                self.evaluate(op)
            elif isinstance(op, CuteOp):
                raise OpError(op, f"'{op.name}' has no lowering to cute_nvgpu")
            elif is_vector_op(op):
                self._lower_elementwise(op)
            else:
                self.keep(op)
        except (RuleError, LayoutError) as error:
            raise OpError(op, f"'{op.name}' {error}") from None

    def _lower_elementwise(self, op: Operation) -> None:
        """An op on vectors; an operand may be a scalar for all elements."""
        count = prod(elementwise_types(op)[0].get_shape())
        operands = [
            self.vector(value).elements if shape_of(value.type) else (self[value],) * count
            for value in op.operands
        ]
        for result, vector in zip(op.results, elementwise(op, operands, self.emitter), strict=True):
            self[result] = vector

    def _settle(self, op: Operation) -> None:
        """Make fragments of what an op has written of registers, before a later op orders them."""
        for operand in op.operands if isinstance(op, CuteOp) else ():
            known = self.values.get(operand)
            if isinstance(known, Typed) and known.kind == "memref":
                registers = known.value.base
                if isinstance(registers, RegisterChunks):
                    registers.settle(self.emitter)

    def evaluate(self, op: InferredOp) -> None:
        """The results of an op of the algebra, by its rule."""
        if all(is_static(result.type) for result in op.results):
            results: list[Any] = [typed_of(result.type) for result in op.results]
        else:
            results = op.evaluate([self.typed(operand) for operand in op.operands])
        for result, value in zip(op.results, results, strict=True):
            self[result] = value if isinstance(value, Typed) else Typed("scalar", value)

    def keep(self, op: Operation) -> None:
        """An op that the atom level has as well, on the lowered operands."""
        if op.regions or op.successors:
            raise OpError(op, f"'{op.name}' around tiles has no lowering to cute_nvgpu")
        copy = type(op).create(
            operands=[self[operand] for operand in op.operands],
            result_types=[result.type for result in op.results],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        self.emitter.add(copy)
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
            self[old] = new


def erase_unused(block: Block) -> None:
    """Erase pure ops of a block whose results nobody reads, last first."""
    for op in reversed(list(block.walk())):
        results = op.results
        if not results or results[0].first_use is not None:
            continue
        if all(result.first_use is None for result in results) and is_pure(op):
            Rewriter.erase_op(op)


def is_pure(op: Operation) -> bool:
    """An op does nothing but give its results."""
    if isinstance(op, _DIVISIONS):
        by = op.rhs.owner
        return isinstance(by, arith.ConstantOp) and by.value != IntegerAttr(0, op.rhs.type)  # type: ignore[arg-type]
    return isinstance(op, _PURE) or op.has_trait(Pure)


_PURE = (gpu.ThreadIdOp, gpu.BlockIdOp, gpu.GridDimOp, gpu.BlockDimOp, ShflSyncOp)
_DIVISIONS = (arith.DivUIOp, arith.DivSIOp, arith.RemUIOp, arith.RemSIOp)


def is_static(type_: Attribute) -> bool:
    """A type says its value in full: a tensor's does not say where it is."""
    if not isinstance(type_, TypedAttribute):
        return False
    typed = type_.typed
    return typed.kind not in ("memref", "coord_tensor") and (
        typed.kind in ("tiled_mma", "tiled_copy", "tma_copy") or is_known(typed)
    )


def offset_of(tensor: Tensor, at: Any, places: Places | None = None) -> Scalar:
    """How many elements behind the start of its memory an element of a tensor lies, before the
    swizzle; `places` are those of the tensor, where they are known."""
    layout = tensor.layout
    inside = image(tensor.modes, at) if places is None else places[at]
    if isinstance(layout, ComposedLayout):
        before: Any = layout.offset
        inside = scalar.add(before, inside)
    return scalar.add(tensor.offset, inside)


def static_extents(tensor: Tensor) -> tuple[int, ...]:
    """The sizes of a tensor's modes, which its op has checked to be known."""
    modes = tensor.modes
    assert isinstance(modes, Layout)
    return product_each(modes.shape)


def undefined(op: Operation) -> OpError:
    return OpError(
        op, f"'{op.name}' reads registers that nothing has written; nearest legal: cute.fill before"
    )
