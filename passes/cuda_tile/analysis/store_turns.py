"""Stores by TMA that take turns: each has memory of its own, and waits until what it stored an
iteration before is read, while those of the others are in flight.

    for %i: store_view_tko weak %x, %a[%i]     writes line 0: all but one copy have read theirs
            store_view_tko weak %y, %b[%i]     writes line 1: all but one copy have read theirs
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import MakeTokenOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.passes.cuda_tile.analysis.cost_model import STORED
from tilewright.passes.cuda_tile.analysis.tensor_maps import BoxedAccess


def take_turns(stores: Mapping[StoreViewTkoOp, BoxedAccess]) -> bool:
    """True of several stores that each iteration of one loop makes, in one round each, and that
    come behind nothing."""
    return (
        len(stores) > 1
        and len({op.parent for op in stores}) == 1
        and all(
            isinstance(op.parent_op(), ForOp)
            and is_behind_nothing(op)
            and access.order.bytes <= STORED
            for op, access in stores.items()
        )
    )


def is_behind_nothing(store: StoreViewTkoOp) -> bool:
    """True of a store whose token no access comes before."""
    return store.token is None or isinstance(store.token.owner, MakeTokenOp)
