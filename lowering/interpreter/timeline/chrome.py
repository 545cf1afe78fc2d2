"""Timelines as trace events, the JSON that Perfetto and chrome://tracing open.

A CTA is a process, a warp one of its threads; what is in flight beside them are asynchronous slices
of the warp that started it. Around the instructions of a line of the source is a slice of the line:
of a program of tiles it says what the program did. A cycle is a nanosecond there.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tilewright.lowering.interpreter.timeline.record import Timeline, TimelineEvent
from tilewright.source.diagnostic import line_of


def trace_events(timeline: Timeline, name: str, source: str | None) -> dict[str, Any]:
    """The trace of a timeline. `name` is that of the source, `source` its text."""
    events: list[dict[str, Any]] = []
    for cta, place in enumerate(timeline.blocks):
        events.append(_named("process_name", cta, 0, f"CTA {place}"))
    for cta, warp in sorted({(event.cta, event.warp) for event in timeline.events}):
        events.append(_named("thread_name", cta, warp, f"warp {warp}"))
    events += _lines(timeline.events, name, source)
    for number, event in enumerate(timeline.events):
        common = {"pid": event.cta, "tid": event.warp, "name": event.name, "cat": event.kind}
        line = {"args": {} if event.line is None else {"line": _place(event, name)}}
        if event.kind in ("run", "wait"):
            colour = {"cname": "terrible"} if event.kind == "wait" else {}
            times = {"ts": event.start / 1000, "dur": (event.end - event.start) / 1000}
            events.append(common | times | line | colour | {"ph": "X"})
        else:
            for phase, when in (("b", event.start), ("e", event.end)):
                # Perfetto has a row of the process for each name.
                own = {"name": f"{event.name} of warp {event.warp}", "id2": {"local": str(number)}}
                events.append(common | line | own | {"ph": phase, "ts": when / 1000})
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "arch": timeline.arch,
            "cycles": str(timeline.cycles),
            "model": "1 ns is a cycle, by the rows of lowering/interpreter/timeline/latencies.py",
        },
    }


def _place(event: TimelineEvent, name: str) -> str:
    """The line of an event: Python's file is another than the source."""
    python = (event.file or "").endswith(".py")
    return f"{event.file if python or not name else name}:{event.line}"


def _lines(
    events: Sequence[TimelineEvent], name: str, source: str | None
) -> Iterator[dict[str, Any]]:
    """Slices of lines, around those of their instructions, where a warp is at several in a row."""
    warps: dict[tuple[int, int], list[TimelineEvent]] = defaultdict(list)
    for event in events:
        if event.kind in ("run", "wait"):
            warps[event.cta, event.warp].append(event)
    for (cta, warp), own in warps.items():
        own.sort(key=lambda event: event.start)
        for (file, line), group in groupby(own, lambda event: (event.file, event.line)):
            members = list(group)
            if line is None or len(members) < 2:
                continue
            first, last = members[0], members[-1]
            python = (file or "").endswith(".py")
            text = line_of(file or "", line, None if python else source)
            place = _place(first, name)
            yield {
                "pid": cta, "tid": warp, "ph": "X", "cat": "line", "args": {"line": place},
                "name": f"{place.rpartition('/')[2]} {(text or '').strip()}".strip(),
                "ts": first.start / 1000, "dur": (last.end - first.start) / 1000,
            }  # fmt: skip


def trace_json(timeline: Timeline, name: str, source: str | None = None) -> str:
    """The text of the trace, an event a line."""
    trace = trace_events(timeline, name, source)
    lines = ",\n".join(json.dumps(event) for event in trace.pop("traceEvents"))
    return f'{json.dumps(trace)[:-1]}, "traceEvents": [\n{lines}\n]}}\n'


def _named(what: str, cta: int, warp: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": cta, "tid": warp, "args": {"name": name}}
