"""Surroundings of a point: what else its kernel has, which changes how the op is lowered and not
what it computes."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields
from typing import Any

from tilewright.dialects.cuda_tile.hints import HINTS

VIEWS = "viewed", "bounded"
AXES: dict[str, tuple[Any, ...]] = {
    "blocks": (1, 1, 2, 3),
    "trips": (0, 0, 1, 3),
    "tiles": ("numbered", "pointed", *VIEWS),
    "aligned": (False, True, True),
    "carried": (False, True),
    "zero": (False, True),
    "named": (False, False, True),
    "num_cta_in_cga": (0, 0, 1, 2, 4),
    "num_worker_warps_per_cta": (0, 0, 4, 8),
    "occupancy": (0, 0, 1, 2),
    "latency": (0, 0, 1, 2, 6),
    "allow_tma": (0, 0, 0, "false"),
}


@dataclass(frozen=True)
class Surroundings:
    """Blocks; iterations of a loop around the op, none without one; whether tiles come and go
    through pointers, to numbered elements or by dimensions, by views of whole tiles, or of tensors
    that end within tiles; whether pointers and strides are known to be multiples; whether the op's
    result is its first operand in the next iteration, as sums of products are, and whether those
    begin at zero; hints, by name, and whether they name targets."""

    blocks: int = 1
    trips: int = 0
    tiles: str = "numbered"
    aligned: bool = False
    carried: bool = False
    zero: bool = False
    named: bool = False
    num_cta_in_cga: int = 0
    num_worker_warps_per_cta: int = 0
    occupancy: int = 0
    latency: int = 0
    allow_tma: Any = 0

    @classmethod
    def drawn(cls, rng: random.Random, alone: bool) -> Surroundings:
        """Some; of an op that stands `alone` one block and no loop."""
        given = {name: rng.choice(values) for name, values in AXES.items()}
        return cls(**given | dict.fromkeys(("blocks",), 1) | {"trips": 0} if alone else given)

    @property
    def parts(self) -> list[tuple[str, Any]]:
        """Everything that tells them from others."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]

    @property
    def words(self) -> str:
        """What is not as it is where nothing is around."""
        return " ".join(f"{name}={value}" for name, value in self.parts if value != _NONE[name])

    def hints(self, op: str) -> str:
        """Those of an op that it may have, or nothing."""
        some = [f"{n} = {v}" for n, v in self.parts if n in HINTS.get(op, ()) and v]
        keys = ("sm_90", "sm_100", "sm_120") if self.named else ("default",)
        return (some and ", ".join(f"{key} = {{{', '.join(some)}}}" for key in keys)) or ""


NOTHING = Surroundings()
_NONE = dict(NOTHING.parts)
