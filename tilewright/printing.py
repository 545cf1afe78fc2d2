"""IR as text, the ops of CUDA Tile IR without their dialect where another of them is around.

cuda_tile.module @kernels {
  entry @f() {
    %0 = iota : tile<4xi32>
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove

_PREFIX = "cuda_tile."


class ShortPrinter(Printer):
    """Prints so."""

    def print_op(self, op: Operation) -> None:
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


def _both_of_tiles(op: Operation, parent: Operation) -> bool:
    return op.name.startswith(_PREFIX) and parent.name.startswith(_PREFIX)
