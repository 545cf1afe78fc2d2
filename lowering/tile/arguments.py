"""Arguments of the tile level as those of the atom level: a tensor is a pointer, the integers of
its layout that are not known, and tensor maps; whatever is used of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr
from xdsl.dialects.builtin import MemRefType as LineType
from xdsl.ir import Attribute, Block, SSAValue

from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.symbolic.scalar import Dynamic, width_of
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.argument import FROM, ArgumentAttr
from tilewright.dialects.cute.types.tensors import MemRefType, element_type
from tilewright.dialects.cute.values import Typed, with_dynamic_leaves
from tilewright.lowering.tile.facts import Fact
from tilewright.lowering.tile.memory import Memory

if TYPE_CHECKING:
    from tilewright.lowering.tile.kernel import Kernel
from xdsl.dialects.builtin import IntegerType

from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType


class Arguments:
    """The arguments of a kernel that is being lowered, in the order in which they are made."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._made: list[tuple[SSAValue, ArgumentAttr]] = []
        self._numbers: dict[SSAValue, int] = {}

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._numbers

    def bind(self, source: Block) -> None:
        """Make what the arguments of the source are now."""
        for number, argument in enumerate(source.args):
            name = argument.name_hint or f"arg{number}"
            if isinstance(argument.type, MemRefType):
                self._bind_tensor(number, name, argument)
            else:
                made = self._make(argument.type, name, ArgumentAttr.get(number, "value"))
                self._kernel[argument] = made

    def _make(self, type_: Attribute, name: str, attribute: ArgumentAttr) -> SSAValue:
        block = self._kernel.entry
        made = block.insert_arg(type_, len(block.args))
        made.name_hint = name
        self._made.append((made, attribute))
        return made

    def _bind_tensor(self, number: int, name: str, argument: SSAValue) -> None:
        assert isinstance(argument.type, MemRefType)
        tensor = argument.type.tensor
        line = LineType(element_type(tensor.element), [DYNAMIC_INDEX])
        pointer = self._make(line, name, ArgumentAttr.get(number, "pointer"))
        leaves = list(self._leaves(number, name, tensor))
        layout = with_dynamic_leaves(Typed("layout", tensor.layout), leaves).value
        held = Tensor(tensor.element, "gmem", tensor.align, layout, Memory(pointer, "gmem"), 0)
        self._kernel[argument] = Typed("memref", held)
        self._numbers[argument] = number

    def _leaves(self, number: int, name: str, tensor: Tensor) -> Iterator[Any]:
        """A leaf for each integer of the layout that is not known."""
        modes = tensor.modes
        for part, numbers in (("shape", modes.shape), ("stride", modes.stride)):
            for i, leaf in enumerate(flatten(numbers)):
                if not isinstance(leaf, Dynamic):
                    continue
                width = width_of(leaf)
                attribute = ArgumentAttr.get(number, part, [i])
                made = self._make(IntegerType(width), f"{name}_{part}{i}", attribute)
                self._kernel.facts[made] = Fact(leaf.divisor, 1 << (width - 1))
                yield self._kernel.leaf(made)

    def tensor_map(
        self, argument: SSAValue, modes: list[int], type_: TmaDescriptorType
    ) -> SSAValue:
        """A tensor map of an argument."""
        number = self._numbers[argument]
        name = f"{argument.name_hint or f'arg{number}'}_map"
        return self._make(type_, name, ArgumentAttr.get(number, "tensor_map", modes, type_))

    def finish(self) -> ArrayAttr[DictionaryAttr]:
        """Drop what is not used; the attributes of the rest, in the order of the arguments."""
        kept: list[DictionaryAttr] = []
        for made, attribute in self._made:
            if made.first_use is None and attribute.part.data != "value":
                made.block.erase_arg(made)  # type: ignore[union-attr, arg-type]
            else:
                kept.append(DictionaryAttr({FROM: attribute}))
        return ArrayAttr(kept)
