"""`tilewright report`: what its page holds, read without a browser."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zlib import decompress

import ml_dtypes
import numpy as np
import pytest
from bridge_kernels import add
from example_files import EXAMPLES

import tilewright as tw
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import SmemDescriptor
from tilewright.lowering.interpreter.timeline.record import TimelineEvent
from tilewright.tools.report.page import report
from tilewright.tools.report.resources import occupancy
from tilewright.tools.report.timeline import timeline_data
from tilewright.tools.tilewright import main


class Page(HTMLParser):
    """The elements of a page, and its data."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside, self.data = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "data":
            self.data += data


def data_of(text: str) -> dict[str, Any]:
    return json.loads(Page(text).data)


def source(name: str) -> str:
    return (EXAMPLES / f"{name}.mlir").read_text()


@cache
def hopper() -> dict[str, Any]:
    """The page of a run of Hopper's GEMM of tiles, C = A B'."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, 128)).astype(ml_dtypes.bfloat16) for rows in (128, 256))
    args = [a, b, np.zeros((128, 256), np.float32)]
    launch = {"grid": (1,), "block": (384,), "args": args}
    return data_of(report(source("tile_gemm_sm90"), name="gemm.mlir", run=launch))


def events(data: dict[str, Any]) -> list[list[Any]]:
    """All that a page has of its timeline: CTA, warp, what, from when, how long, of which line."""
    return [
        [track["cta"], track["warp"], *row]
        for track in data["timeline"]["tracks"]
        for part in track["parts"]
        for row in json.loads(decompress(b64decode(part["text"])))
    ]


def level(name: str) -> dict[str, Any]:
    return next(level for level in hopper()["levels"] if level["name"] == name)


def lines_of(name: str, words: str) -> set[int | None]:
    """The lines of the source that the lines with these words are of."""
    pairs = zip(level(name)["text"].splitlines(), level(name)["lines"], strict=True)
    return {line for text, line in pairs if words in text}


@pytest.mark.usefixtures("no_machine_code")
def test_the_page_needs_nothing_but_itself():
    text = report(source("mma"))
    for tag, attributes in Page(text).tags:
        for name, value in attributes.items():
            assert name not in ("src", "href") or value is None or value.startswith("data:"), tag
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/)", text)


def test_levels_keep_the_lines_of_the_source():
    assert [level["name"] for level in hopper()["levels"]][:4] == ["source", "atoms", "ptx", "PTX"]
    (gemm,) = [n for n, line in enumerate(level("source")["text"].splitlines(), 1)
               if "cute.gemm" in line]  # fmt: skip
    for name, words in (
        ("atoms", "cute_nvgpu.sm90.mma %"),
        ("ptx", "ptx.wgmma.mma_async"),
        ("PTX", "wgmma.mma_async"),
    ):
        assert gemm in lines_of(name, words)
        assert lines_of(name, words) <= {gemm}
    assert all(len(one["lines"]) == len(one["text"].splitlines()) for one in hopper()["levels"])


def test_machine_code_is_of_the_same_lines():
    (gemm,) = lines_of("PTX", "wgmma.mma_async")
    assert gemm in lines_of("SASS", "HGMMA")


def test_layouts_fragments_and_descriptors_are_drawn():
    kinds = {picture["kind"] for picture in hopper()["pictures"]}
    assert kinds >= {"swizzled layout", "fragment", "matrix of a descriptor"}
    stage = next(p for p in hopper()["pictures"] if p["title"].endswith("(128,64,3):(64,1,8192)"))
    # Row 1 of a swizzle of 128 bytes: its first 16 bytes are where the second ones would be.
    assert stage["texts"][1][0] == "72" and len(stage["texts"]) == 128
    fragment = next(p for p in hopper()["pictures"] if p["title"].startswith("wgmma"))
    assert fragment["texts"][0][0] == "T0V0" and fragment["numbers"][1][0] == 4
    (descriptor,) = {d["html"] for d in hopper()["descriptors"]}
    assert SmemDescriptor(0, 16, 1024, 128)._repr_html_() == descriptor
    assert "swizzling mode" in descriptor


def test_shared_memory_has_its_regions_with_their_accesses():
    regions = hopper()["shared"]["regions"]
    assert [region["first"] for region in regions][:2] == [0, 49152]
    assert sum(region["bytes"] for region in regions) == hopper()["shared"]["bytes"]
    kinds = {access["kind"] for access in regions[0]["accesses"]}
    assert kinds == {"copy", "multiply"}
    assert {a["kind"] for a in regions[2]["accesses"]} == {"mbarrier"}


def test_resources_and_roofline():
    (row,) = hopper()["resources"]
    assert row["target"] == "sm_90a" and row["ctas"] == 1 and row["bound"] == "registers"
    assert hopper()["roofline"]["flops"] == 2 * 128 * 256 * 128
    assert hopper()["roofline"]["bytes"] == 2 * (128 + 256) * 128 + 4 * 128 * 256


@pytest.mark.parametrize(
    "number, registers, shared, threads, ctas, bound",
    [(80, 32, 0, 256, 8, "threads"), (80, 128, 0, 256, 2, "registers"),
     (90, 32, 100 * 1024, 128, 2, "shared memory"), (86, 16, 0, 32, 16, "CTAs")],
)  # fmt: skip
def test_occupancy(number: int, registers: int, shared: int, threads: int, ctas: int, bound: str):
    """As NVIDIA's occupancy calculator has it."""
    row = occupancy(number, registers, shared, threads)
    assert (row["ctas"], row["bound"]) == (ctas, bound)


def test_the_timeline_is_in_the_page():
    timeline = hopper()["timeline"]
    names = {tuple(pair) for pair in timeline["names"]}
    assert {("wgmma", "wgmma.mma_async"), ("tma", "cp.async.bulk.tensor.load")} <= names
    ends = [start + length for *_, start, length, _ in events(hopper())]
    assert max(ends) == timeline["cycles"]


def test_the_timeline_has_a_cta_whole():
    """All events, packed; of the whole no more than can be seen, the longest of each grain."""
    timeline = tw.Timeline()
    timeline.blocks = ["(0, 0, 0)"]
    timeline.events = [
        TimelineEvent(0, 0, "run", "add", start, start + 1 + 6 * (start % 1000 == 0), 3)
        for start in range(0, 50_000, 2)
    ]
    data = timeline_data(timeline)
    assert len(events({"timeline": data})) == 25_000
    [track] = data["tracks"]
    assert len(track["parts"]) == 4 and 4000 <= len(track["whole"]) <= 5000
    assert sum(length == 7 for _, _, length, _ in track["whole"]) == 50


@pytest.mark.usefixtures("no_machine_code")
def test_bank_conflicts_of_a_run():
    """Every thread of a warp reads the first column of rows of 128 bytes."""
    text = """func.func @k(%p: memref<?xf32>) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %s = memref.alloc() : memref<32x32xf32, #cute<space smem>>
  %c0 = arith.constant 0 : index
  %v = memref.load %p[%t] : memref<?xf32>
  memref.store %v, %s[%t, %c0] : memref<32x32xf32, #cute<space smem>>
  memref.store %v, %s[%c0, %t] : memref<32x32xf32, #cute<space smem>>
  func.return
}"""
    launch = {"grid": (1,), "block": (32,), "args": [np.ones(32, np.float32)]}
    rows = data_of(report(text, run=launch))["run_conflicts"]
    assert [(row["line"], row["ways"]) for row in rows] == [(6, 32), (7, 1)]


@pytest.mark.usefixtures("no_machine_code")
def test_tensor_memory_is_drawn_as_long_as_it_is_allocated():
    """The rectangle of an allocation holds those of all accesses, and names both of its lines."""
    text = source("gemm_sm100")
    lines = {
        words: number for number, line in enumerate(text.splitlines(), 1)
        for words in ("tmem.alloc ", "tmem.dealloc ") if words in line
    }  # fmt: skip
    maps = [
        tw.TensorMap(np.ones((128, 64), np.float16), shape=(128, 64), box=(128, 64), swizzle=128),
        tw.TensorMap(np.ones((64, 256), np.float16), shape=(64, 256), box=(64, 64), swizzle=128),
        tw.TensorMap(np.zeros((128, 256), np.float32), shape=(128, 256), box=(128, 32),
                     swizzle=128),
    ]  # fmt: skip
    launch = {"grid": (1, 1), "block": (192,), "args": [*maps, 64]}
    drawn = ElementTree.fromstring(data_of(report(text, "sm_100a", run=launch))["columns"])
    own, *accesses = [
        {"title": rect.findtext("{*}title"), "line": int(rect.get("data-line", 0)),
         **{name: float(rect.get(name, 0)) for name in ("x", "y", "width", "height")}}
        for rect in drawn.findall("{*}rect") if rect.find("{*}title") is not None
    ]  # fmt: skip
    assert own["line"] == lines["tmem.alloc "]
    words = f"allocated: columns 0 to 255, line {own['line']}, freed at line "
    assert own["title"].startswith(words + str(lines["tmem.dealloc "]))
    assert {access["title"].split(":")[0] for access in accesses} == {"tcgen05.mma", "tcgen05.ld"}
    for low, size in (("x", "width"), ("y", "height")):
        assert min(access[low] for access in accesses) >= own[low]
        ends = [access[low] + access[size] for access in accesses]
        assert max(ends) <= own[low] + own[size]
    assert min(access["x"] for access in accesses) > own["x"]


@pytest.mark.usefixtures("no_machine_code")
def test_an_error_of_the_run_is_in_the_page():
    launch = {"grid": (2,), "block": (64,),
              "args": [np.zeros(100, np.float32), np.zeros(100, np.float32), 2.0, 128]}  # fmt: skip
    data = data_of(report(source("axpy"), name="axpy.mlir", run=launch))
    (error,) = data["errors"]
    assert error.startswith("axpy.mlir:7:5: error: 'memref.load' read out of bounds")
    assert "is outside" in error.splitlines()[-1]
    assert events(data)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "r.html"
    axpy = str(EXAMPLES / "axpy.mlir")
    launch = ["--grid", "2", "--block", "64", "100", "100", "2.0", "100"]
    main(["report", axpy, "-o", str(page), *launch])
    data = data_of(page.read_text())
    assert capsys.readouterr().out == f"{page}\n"
    assert data["kernel"] == "axpy" and not data["errors"] and data["grid"] == 2
    assert {row["target"] for row in data["resources"]} >= {"sm_80", "sm_90", "sm_120"}
    with pytest.raises(SystemExit):
        main(["report", axpy, "-o", str(page), "100"])
    assert "expected --grid for a run, got none" in capsys.readouterr().err


@pytest.mark.usefixtures("no_machine_code")
def test_compiled_kernels_show_themselves():
    kernel = tw.compile(source("mma"), "sm_80")
    assert "fragment" in {picture["kind"] for picture in data_of(kernel.report())["pictures"]}
    assert kernel._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    bare = tw.Kernel(kernel.ptx, kernel.entries, kernel.arch)
    assert data_of(bare.report())["levels"][0]["name"] == "PTX"


@pytest.mark.usefixtures("no_machine_code")
def test_a_cutile_kernel_shows_its_python_and_a_run():
    arrays = [np.ones(256, np.float32) for _ in range(3)]
    kernel = tw.cutile.compile(add, (*arrays, 128), "sm_90a")
    data = data_of(kernel.report(run={"grid": (2,), "args": (*arrays, 128), "ctas": 2}))
    assert [level["name"] for level in data["levels"]][:3] == ["Python", "program", "cute"]
    assert data["levels"][0]["text"].splitlines()[data["line"] - 1] == "def add(a, b, c, T: Int):"
    assert not data["errors"] and data["timeline"]["blocks"] == ["(0, 0, 0)", "(1, 0, 0)"]
    with pytest.raises(tw.ArgumentError, match="expected run as a dict of grid and args"):
        kernel.report(run={"gird": (2,), "args": (*arrays, 128)})


@pytest.mark.usefixtures("no_machine_code")
def test_the_command_takes_what_a_run_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.ones(100, np.float32))
    launch = ["--grid", "2", "--block", "64", "a=2.0", "x=x.npy", "y=o.npy=100:f32", "n=100"]
    main(["report", str(EXAMPLES / "axpy.mlir"), "-o", "r.html", *launch])
    data = data_of(Path("r.html").read_text())
    assert not data["errors"] and data["timeline"]["blocks"] == ["(0, 0, 0)"]
    assert max(warp for _, warp, *_ in events(data)) == 1
    assert not Path("o.npy").exists()


@pytest.mark.usefixtures("no_machine_code")
def test_tile_ir_from_the_program_down():
    fixtures = EXAMPLES.parent / "tests/lowering/interpreter/cuda_tile/fixtures"
    data = data_of(report((fixtures / "saxpy.tileirbc").read_bytes(), "sm_90a"))
    names = [level["name"] for level in data["levels"]]
    assert names[:2] == ["program", "cute"] and "PTX" in names
    program, ptx = (
        {line for text, line in zip(one["text"].splitlines(), one["lines"], strict=True)
         if words in text}
        for name, words in (("program", "store_view_tko"), ("PTX", "st.global"))
        for one in data["levels"] if one["name"] == name
    )  # fmt: skip
    assert program & ptx - {None}
