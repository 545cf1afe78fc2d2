"""Arguments of the tile level as those of the atom level: a tensor is a pointer, the integers of
its layout that are not known, and tensor maps; whatever is used of them."""

from collections.abc import Callable, Iterator
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, IntegerType
from xdsl.dialects.builtin import MemRefType as LineType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.rules.accessors import dynamic_leaves
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, width_of
from tilewright.dialects.cute.symbolic.text import KINDS
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.types.argument import FROM, ArgumentAttr
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute.values import Typed, with_dynamic_leaves
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.tile.facts import Fact, Facts
from tilewright.lowering.tile.places import Memory, item_type
from tilewright.source.diagnostic import OpError


@entity
class Arguments:
    """The arguments of a kernel that is being lowered, in the order in which they are made; `leaf`
    makes a leaf of the algebra from one."""

    _entry: Block
    _facts: Facts
    _leaf: Callable[[SSAValue], Scalar]
    _made: list[tuple[SSAValue, ArgumentAttr]] = factory(list)
    _numbers: dict[SSAValue, int] = factory(dict)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._numbers

    def bind(self, source: Block) -> Iterator[tuple[SSAValue, SSAValue | Typed]]:
        """The arguments of the source, and what they are now."""
        for number, argument in enumerate(source.args):
            name = argument.name_hint or f"arg{number}"
            if isinstance(argument.type, MemRefType):
                yield argument, self._tensor(number, name, argument)
            elif isinstance(argument.type, CuteType) and argument.type.kind() in KINDS:
                yield argument, self._algebra(number, name, argument.type.typed)
            else:
                value = ArgumentAttr.get(number, "value")
                yield argument, self._make(argument.type, name, value)

    def _algebra(self, number: int, name: str, typed: Typed) -> Typed:
        """A value of the algebra, an integer for each leaf that is not known."""
        leaves: list[Scalar] = []
        for i, leaf in enumerate(dynamic_leaves(typed)):
            field = ArgumentAttr.get(number, "field", [i])
            made = self._make(IntegerType(leaf.width), f"{name}_leaf{i}", field)
            self._facts[made] = Fact(leaf.divisor)
            leaves.append(self._leaf(made))
        return with_dynamic_leaves(typed, leaves)

    def _make(self, type_: Attribute, name: str, attribute: ArgumentAttr) -> SSAValue:
        made = self._entry.insert_arg(type_, len(self._entry.args))
        made.name_hint = name
        self._made.append((made, attribute))
        return made

    def _tensor(self, number: int, name: str, argument: SSAValue) -> Typed:
        assert isinstance(argument.type, MemRefType)
        tensor, kernel = argument.type.tensor, argument.owner.parent_op()
        if (why := tensor.why_no_argument) is not None:
            assert isinstance(kernel, Operation)
            raise OpError(kernel, f"'{kernel.name}' {why}, as its argument %{name}")
        line = LineType(item_type(tensor), [DYNAMIC_INDEX])
        pointer = self._make(line, name, ArgumentAttr.get(number, "pointer"))
        leaves = list(self._leaves(number, name, tensor))
        layout = with_dynamic_leaves(Typed("layout", tensor.layout), leaves).value
        self._numbers[argument] = number
        memory = Memory(pointer, "gmem")
        return Typed("memref", Tensor(tensor.element, "gmem", tensor.align, layout, memory, 0))

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
                self._facts[made] = Fact(leaf.divisor, 1 << (width - 1))
                yield self._leaf(made)

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
