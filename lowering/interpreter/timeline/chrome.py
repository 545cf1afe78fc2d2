"""Timelines as trace events, the JSON that Perfetto and chrome://tracing open.

A CTA is a process, a warp one of its threads; what is in flight beside them are asynchronous slices
of the warp that started it. A cycle is a nanosecond there.
"""

from __future__ import annotations

import json
from typing import Any

from tilewright.lowering.interpreter.timeline.record import Timeline


def trace_events(timeline: Timeline, name: str = "") -> dict[str, Any]:
    """The trace of a timeline. `name` is that of the source."""
    events: list[dict[str, Any]] = []
    for cta, place in enumerate(timeline.blocks):
        events.append(_named("process_name", cta, 0, f"CTA {place}"))
    for cta, warp in sorted({(event.cta, event.warp) for event in timeline.events}):
        events.append(_named("thread_name", cta, warp, f"warp {warp}"))
    for number, event in enumerate(timeline.events):
        common = {"pid": event.cta, "tid": event.warp, "name": event.name, "cat": event.kind}
        line = {"args": {} if event.line is None else {"line": f"{name}:{event.line}"}}
        if event.kind in ("run", "wait"):
            colour = {"cname": "terrible"} if event.kind == "wait" else {}
            times = {"ts": event.start / 1000, "dur": (event.end - event.start) / 1000}
            events.append(common | times | line | colour | {"ph": "X"})
        else:
            for phase, when in (("b", event.start), ("e", event.end)):
                events.append(common | line | {"ph": phase, "id": number, "ts": when / 1000})
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "arch": timeline.arch,
            "cycles": str(timeline.cycles),
            "model": "1 ns is a cycle, by the rows of lowering/interpreter/timeline/latencies.py",
        },
    }


def trace_json(timeline: Timeline, name: str = "") -> str:
    """The text of the trace, an event a line."""
    trace = trace_events(timeline, name)
    lines = ",\n".join(json.dumps(event) for event in trace.pop("traceEvents"))
    return f'{json.dumps(trace)[:-1]}, "traceEvents": [\n{lines}\n]}}\n'


def _named(what: str, cta: int, warp: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": cta, "tid": warp, "args": {"name": name}}
