"""The state of the conversion of one kernel to Tile IR, and the rules that drive it.

A rule is a function of an op and the conversion, registered for its op types:

    @converts(triton.SplatOp)
    def _splat(op: triton.SplatOp, at: TritonConversion) -> SSAValue:
        return at.spread(at[op.src], shape_of_type(op.result.type))

It gives what the op's results became, one value or several. `at[value]` is what a value of Triton
became, `at.tile(type)` the tile that a type became; ops of Tile IR are made by the methods of
`ShapedBuilder` at the end of the block that is being filled, at the location of the op.
Memory is accessed behind `at.order`, which tells the token and takes the new one.

A region of scalars, the combination of a fold, is lifted: its scalars are tiles of a shape.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects import triton
from tilewright.dialects.ancestors import terminator
from tilewright.dialects.cuda_tile.builder import constant
from tilewright.dialects.cuda_tile.element_types import NUMBERS
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.op_rules import OpRules
from tilewright.lowering.triton.facts import known
from tilewright.lowering.triton.order import ProgramOrder
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder
from tilewright.source.diagnostic import OpError

Converted = SSAValue | Sequence[Any] | None
Rule = Callable[[Any, "TritonConversion"], Converted]

RULES = OpRules[Rule]()
"""The rules of ops; the modules beside this one fill it."""

converts = RULES.of


class TritonConversion(ShapedBuilder):
    """Converts the body of a function into a block."""

    def __init__(self, function: Operation, block: Block):
        super().__init__(function, InsertPoint.at_end(block))
        self.op, self.order = function, ProgramOrder()
        self.calls: list[Operation] = []
        """The functions that are being inlined, the innermost last."""
        self._entry, self._lifted = block, ()
        self._values: dict[SSAValue, Any] = {}
        self._constants: dict[tuple[str, Attribute], SSAValue] = {}

    def __getitem__(self, value: SSAValue) -> Any:
        """The value of Tile IR that a value became: in a lifted region a tile of its shape."""
        became = self._values[value]
        if self._lifted and not shape_of(became):
            return self.spread(became, self._lifted)
        return became

    def __setitem__(self, value: SSAValue, became: Any) -> None:
        self._values[value] = became

    def all(self, values: Sequence[SSAValue]) -> list[Any]:
        """The values of Tile IR that values became."""
        return [self[value] for value in values]

    def given(self, value: SSAValue | None) -> Any:
        """The value of Tile IR that an operand became, if there is one."""
        return None if value is None else self[value]

    def bind(self, values: Sequence[SSAValue], became: Sequence[Any]) -> None:
        """Say what values became."""
        self._values.update(zip(values, became, strict=True))

    @property
    def is_lifted(self) -> bool:
        """True in a region of scalars that are tiles."""
        return bool(self._lifted)

    # --- types ---

    def tile(self, type_: Attribute) -> TileType:
        """The tile that a type became. Raises OpError where Tile IR has no such elements."""
        if isinstance(type_, TensorType):
            element = self.element(type_.element_type)  # pyright: ignore
            return TileType.get(type_.get_shape(), element)
        return TileType.get(self._lifted, self.element(type_))

    def element(self, type_: Attribute) -> Attribute:
        """The element that a scalar type became: a pointer in memory is its address, a
        descriptor the pointer to its tensor."""
        if isinstance(type_, triton.PointerType):
            pointee = type_.pointee_type
            return PointerType.get(i64 if isinstance(pointee, triton.PointerType)
                                   else self.element(pointee))  # fmt: skip
        if isinstance(type_, triton.TensorDescType):
            return PointerType.get(self.element(type_.signless_block_type.element_type))
        if type_ not in NUMBERS:
            raise OpError(
                self.op, f"'{self.op.name}' expected elements that Tile IR has, got {type_}; "
                f"nearest legal: {', '.join(map(shown, NUMBERS))}"
            )  # fmt: skip
        return type_

    def addresses(self, value: SSAValue) -> TileType:
        """The type of the addresses of a tile of pointers."""
        return tile_type(value).with_element(i64)

    # --- ops ---

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A tile of one number, or a scalar, made once, where the kernel begins."""
        key = (repr(number), type_)
        if key not in self._constants:
            new = constant(number, type_)
            new.location = self._location  # pyright: ignore[reportUnknownMemberType]
            first = self._entry.first_op
            if first is None:
                self._entry.add_op(new)
            else:
                self._entry.insert_op_before(new, first)
            self._constants[key] = new.result
        return self._constants[key]

    def convert(self, op: Operation) -> None:
        """Convert an op by its rule. Raises OpError where there is none."""
        self.op, self._location = op, op.location
        became = RULES.rule(op, "has no lowering to cuda_tile")(op, self)
        if isinstance(became, SSAValue):
            became = [became]
        for result, value in zip(op.results, became or (), strict=True):
            if isinstance(value, SSAValue):
                if "tt.divisibility" in op.attributes:
                    value = self._known(value, op.attributes)
                value.name_hint = value.name_hint or result.name_hint
            self._values[result] = value

    def _known(self, value: Any, attributes: Mapping[str, Attribute]) -> SSAValue:
        """A value with what attributes say of it, a scalar or a tile of pointers."""
        pointers = isinstance(element_of(value), PointerType)
        return known(self, value, attributes) if pointers or not shape_of(value) else value

    def convert_body(self, block: Block) -> list[Any]:
        """Convert the ops of a block; what its terminator passes on."""
        end = terminator(block)
        for op in block.ops:
            if op is not end:
                self.convert(op)
        self._location = end.location
        return self.all(end.operands)

    @contextmanager
    def inside(self, block: Block) -> Generator[Block]:
        """Fill another block."""
        outside: Any = self._point, self.op, self._location  # pyright: ignore[reportUnknownMemberType]
        self._point = InsertPoint.at_end(block)
        yield block
        self._point, self.op, self._location = outside

    @contextmanager
    def lifted(self, shape: tuple[int, ...]) -> Generator[None]:
        """Scalars are tiles of a shape."""
        outside, self._lifted = self._lifted, shape
        yield
        self._lifted = outside
