"""Instructions of one CTA or of a pair: PTX's `.cta_group`, one and the same in a kernel."""

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation
from xdsl.irdl import prop_def
from xdsl.traits import IsolatedFromAbove

from tilewright.dialects.cute_nvgpu.lattice.tmem import why_illegal_columns, why_illegal_group
from tilewright.dialects.definition import DefinedOp
from tilewright.dialects.fields import NUMBER, number

ONE_CTA = number(1)
"""The group where nothing is said."""


class CtaGroupOp(DefinedOp):
    """An op that names a CTA group, at any level of IR."""

    @property
    def group(self) -> int:
        """How many CTAs work together: 1 or 2."""
        raise NotImplementedError

    def verify_group(self) -> None:
        """Raise Illegal for a group that is none, or not that of the kernel's first op
        that has one: ptxas takes one alone."""
        self.refuse(why_illegal_group(self.group))
        kernel = _kernel(self)
        if kernel is None:
            return
        first = next(op for op in kernel.walk() if isinstance(op, CtaGroupOp))
        if first.group != self.group:
            raise self.fail(
                f"cta_group {first.group}, got {self.group} ('{first.name}' of the same kernel has "
                f"it, and a kernel has one alone); nearest legal: {first.group}"
            )


class GroupInstructionOp(CtaGroupOp):
    """An instruction of tensor memory of which the row's mnemonics say the group, at either level:
    the op's field `cta_group`."""

    if TYPE_CHECKING:
        cta_group: IntegerAttr

        @property
        def row(self) -> Any: ...

    @property
    def group(self) -> int:
        return self.cta_group.value.data

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic."""
        return self.row.mnemonic(self.group)

    def verify_(self) -> None:
        self.verify_group()


class AllocationOp(GroupInstructionOp):
    """An instruction on so many columns, at either level."""

    columns = prop_def(NUMBER)

    def verify_(self) -> None:
        super().verify_()
        self.refuse(why_illegal_columns(self.columns.value.data))


def _kernel(op: Operation) -> Operation | None:
    """The function around an op, or None outside of any."""
    parent = op.parent_op()
    while parent is not None and not parent.has_trait(IsolatedFromAbove):
        parent = parent.parent_op()
    return parent if parent is not None and parent.parent_op() is not None else None
