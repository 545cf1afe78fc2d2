"""An access of a thread to memory, by one instruction."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects.frozen import frozen


@frozen
class MaskedAccess:
    """Registers whose elements lie side by side from an address plus some bytes on, and the
    condition under which they are accessed."""

    registers: Sequence[int]
    address: SSAValue
    offset: int
    condition: SSAValue | None
    left: SSAValue | None = None
    """Where not all of them need lie within the tensor, how many do from the first on, at least
    one, and maybe more than there are."""
