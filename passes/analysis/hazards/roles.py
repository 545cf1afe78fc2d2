"""Roles: the threads of a warp that do the same, wherever in the text they do it."""

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.frozen import frozen_entity
from tilewright.passes.analysis.hazards.launches import ClusterLaunch
from tilewright.passes.analysis.hazards.trace import WARP, Event, alike

RoleNumbers = list[int]


@frozen_entity
class Role:
    """Threads of one warp with the same events: their slots, CTA and warp, in the cluster and in
    the CTA."""

    number: int
    cta: int
    warp: int
    warp_of_cta: int
    lanes: NDArray[np.int64]
    alone: bool
    """One thread."""


def roles_of(events: list[Event], launch: ClusterLaunch) -> tuple[list[Role], dict[int, list[int]]]:
    """The roles of a launch, and those that each mask of an event has, by the mask's number."""
    masks = {event.mask.number: event.mask for event in events}
    slots = np.flatnonzero(launch.present)
    columns = [slots // WARP, *(mask.flags[slots] for mask in masks.values())]
    roles = [
        Role(
            number,
            int(lanes[0]) // launch.stride,
            int(lanes[0]) // WARP,
            int(lanes[0]) % launch.stride // WARP,
            lanes,
            len(lanes) == 1,
        )
        for number, lanes in enumerate(slots[rows] for rows in alike(columns))
    ]
    members = {
        number: [role.number for role in roles if mask.flags[role.lanes[0]]]
        for number, mask in masks.items()
    }
    return roles, members
