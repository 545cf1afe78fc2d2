"""IR as text, the ops of CUDA Tile IR without their dialect where another of them is around, and
debug info under short names behind everything else.

cuda_tile.module @kernels {
  entry @f() {
    %0 = iota : tile<4xi32> loc(#loc2)
...
#loc1 = loc("kernel.py":7:8)
#loc2 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
"""

from collections import Counter
from functools import cached_property

from xdsl.dialects.builtin import AnyFloat, FileLineColLoc, Float64Type, Float80Type, Float128Type
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove

from tilewright.dialects.cuda_tile.debug_info import DILocAttr, DINodeAttr

_PREFIX = "cuda_tile."


class ShortPrinter(Printer):
    """Prints so."""

    @cached_property
    def aliases(self) -> dict[ParametrizedAttribute, str]:
        """The names of debug info, what it is made of before it."""
        return {}

    def print_op(self, op: Operation) -> None:
        self._print_op(op)
        if op.parent is None:
            self._print_aliases()

    def _print_op(self, op: Operation) -> None:
        parent = op.parent_op()
        if self.print_generic_format or parent is None or not _both_of_tiles(op, parent):
            super().print_op(op)
            return
        self._print_results(op)
        scope = bool(op.get_traits_of_type(IsolatedFromAbove))
        if scope:
            self.enter_scope()
        self.print_string(op.name.removeprefix(_PREFIX))
        op.print(self)
        if self.print_debuginfo:
            self.print_string(" ")
            self.print_attribute(op.location)
        if scope:
            self.exit_scope()

    def print_attribute(self, attribute: Attribute) -> None:
        if not self.print_debuginfo or not isinstance(attribute, DINodeAttr | DILocAttr):
            super().print_attribute(attribute)
        elif isinstance(attribute, DILocAttr):
            with self.in_location():
                self.print_string(self._alias(attribute))
        else:
            self.print_string(self._alias(attribute))

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Print a number; xDSL cannot pack those of more than 64 bits, which it holds as 64."""
        wide = isinstance(type, Float80Type | Float128Type)
        super().print_float(value, Float64Type() if wide else type)

    def _alias(self, attribute: ParametrizedAttribute) -> str:
        if attribute not in self.aliases:
            for part in attribute.parameters:
                if isinstance(part, DINodeAttr | FileLineColLoc):
                    self._alias(part)
            kind = attribute.name.removeprefix(_PREFIX)
            if isinstance(attribute, DILocAttr | FileLineColLoc):
                kind = "loc"
            self._named[kind] += 1
            self.aliases[attribute] = f"#{kind}{self._named[kind]}"
        return self.aliases[attribute]

    @cached_property
    def _named(self) -> Counter[str]:
        return Counter()

    def _print_aliases(self) -> None:
        for attribute, name in self.aliases.items():
            self.print_string(f"\n{name} = ")
            if isinstance(attribute, DILocAttr):
                source, scope = map(self._alias, (attribute.source, attribute.scope))
                self.print_string(f"#{attribute.name}<{source} in {scope}>")
            else:
                super().print_attribute(attribute)


def _both_of_tiles(op: Operation, parent: Operation) -> bool:
    return op.name.startswith(_PREFIX) and parent.name.startswith(_PREFIX)
