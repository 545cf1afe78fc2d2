"""The events of a run as the page has them: of each row what is seen of the whole, and all of them,
packed, to be loaded where the page is zoomed to."""

import json
import operator
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import compress

from tilewright.dialects.sequences import numbered
from tilewright.lowering.interpreter.timeline.record import Timeline, TimelineEvent

GRAINS = 4000
"""The parts of the time, of each of which the whole shows an event of a row."""
PACKED = 1 << 13
"""Events that are loaded at once."""

Row = tuple[int, int, int, int | None]
"""What, by its number among the names, from when, how long, and of which line."""


def timeline_data(timeline: Timeline) -> dict[str, Any]:
    """The rows of warps, and of what each has in flight, by CTAs."""
    names = sorted({(event.kind, event.name) for event in timeline.events})
    numbers = numbered(names)
    tracks = defaultdict[tuple[int, int, str], list[TimelineEvent]](list)
    for event in timeline.events:
        flight = "" if event.kind in ("run", "wait") else event.kind
        tracks[event.cta, event.warp, flight].append(event)
    cycles = timeline.cycles
    grain = max(cycles // GRAINS, 1)
    shown: list[dict[str, Any]] = []
    for (cta, warp, flight), events in sorted(tracks.items()):
        rows: list[Row] = sorted(
            ((numbers[event.kind, event.name], event.start, event.end - event.start, event.line)
             for event in events),
            key=operator.itemgetter(1),
        )  # fmt: skip
        parts = [_packed(rows[first : first + PACKED]) for first in range(0, len(rows), PACKED)]
        whole = [] if grain == 1 else _longest(rows, grain)
        shown.append({"cta": cta, "warp": warp, "flight": flight, "whole": whole, "parts": parts})
    return {"blocks": timeline.blocks, "cycles": cycles, "grain": grain,
            "names": names, "tracks": shown}  # fmt: skip


def _longest(rows: Iterable[Row], grain: int) -> list[Row]:
    """Of what begins within a grain of the time the longest, in order."""
    kept: dict[int, Row] = {}
    for row in rows:
        place = row[1] // grain
        if place not in kept or kept[place][2] < row[2]:
            kept[place] = row
    return list(kept.values())


def _packed(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as deflated JSON, and the time that they take."""
    text = b64encode(compress(json.dumps(rows, separators=(",", ":")).encode())).decode()
    return {"from": rows[0][1], "to": max(row[1] + row[2] for row in rows), "text": text}
