"""The playground over HTTP: answers to its own page, and to nobody else."""

from __future__ import annotations

import base64
import http.client
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest
from example_files import EXAMPLES

import tilewright as tw
from tilewright.dialects import cute
from tilewright.pipeline import verified
from tilewright.tools.playground.server import LARGEST, PlaygroundServer
from tilewright.tools.tilewright import main
from tilewright.tools.worker import MEMORY, Unanswered, Worker

ANSWERS = "tilewright.tools.playground.answers"
MMA = (EXAMPLES / "mma.mlir").read_text()
GEMM = (EXAMPLES / "tile_gemm_sm80.mlir").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A server whose folder has two files to read, one of them too large, and others."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.mlir").write_text("secret")
    folder = tmp_path_factory.mktemp("folder")
    (folder / "mma.mlir").write_text(MMA)
    (folder / "large.ptx").write_text("x" * (LARGEST + 1))
    (folder / "notes.txt").write_text("notes")
    (folder / "inner").mkdir()
    (folder / "inner" / "deep.mlir").write_text(MMA)
    (folder / "link.mlir").symlink_to(outside / "secret.mlir")
    with PlaygroundServer(0, folder) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: PlaygroundServer, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """Status, content and headers of an answer; `body` goes as JSON unless it is bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    sent = {"Content-Type": "application/json"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection.request(method, path, raw, sent)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, content, reply.headers


def answer(server: PlaygroundServer, question: str, **fields: str) -> dict[str, Any]:
    status, content, _ = ask(server, "POST", f"/{question}", fields)
    assert status == 200, content
    return json.loads(content)


def test_the_page_needs_nothing_from_elsewhere(server: PlaygroundServer):
    status, page, headers = ask(server, "GET", "/")
    assert status == 200 and b"<textarea" in page
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    for reference in re.findall(rb'(?:src|href)="([^"]+)"', page):
        if reference != b"data:,":
            status, content, _ = ask(server, "GET", f"/{reference.decode()}")
            assert status == 200 and not re.search(rb"https?://(?!www\.w3\.org/)", content)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:PORT"}, 200),
        ({"Host": "127.0.0.1:PORT", "Origin": "http://127.0.0.1:PORT"}, 200),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": "evil.example:PORT"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1:PORT"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_another_site_gets_nothing(headers: dict[str, str], status: int, server: PlaygroundServer):
    filled = {
        name: value.replace("PORT", str(server.server_port)) for name, value in headers.items()
    }
    for method, path, body in (("GET", "/setup", None), ("POST", "/layout", b"{}")):
        replied, content, sent = ask(server, method, path, body, **filled)
        assert replied == (status if method == "GET" or status == 403 else 400)
        assert "Access-Control-Allow-Origin" not in sent
        assert status == 200 or b"sm_90a" not in content


def test_it_listens_on_this_machine_alone(server: PlaygroundServer):
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_the_folders_files_can_be_read(server: PlaygroundServer):
    setup = json.loads(ask(server, "GET", "/setup")[1])
    assert setup["files"][:2] == ["large.ptx", "mma.mlir"] and "example:axpy" in setup["files"][2:]
    assert "func.func @axpy" in json.loads(ask(server, "GET", "/file?name=example:axpy")[1])["text"]
    assert json.loads(ask(server, "GET", "/file?name=mma.mlir")[1]) == {"text": MMA}
    assert ask(server, "GET", "/file?name=large.ptx")[0] == 413


@pytest.mark.parametrize(
    "name",
    ["link.mlir", "notes.txt", "inner/deep.mlir", "../outside0/secret.mlir", "/etc/passwd", "",
     "%2e%2e%2foutside0%2fsecret.mlir", "mma.mlir%00"],
)  # fmt: skip
def test_no_other_file_can(name: str, server: PlaygroundServer):
    assert ask(server, "GET", f"/file?name={name}")[0] == 404
    assert ask(server, "GET", f"/{name}x")[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/layout", b"x" * (LARGEST + 1), {}, 413),
        ("POST", "/layout", b"{}", {"Content-Length": "9" * 20}, 413),
        ("POST", "/layout", b"{}", {"Content-Length": "-2"}, 411),
        ("POST", "/layout", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", "/layout", b"{", {}, 400),
        ("POST", "/layout", b"[" * 100_000, {}, 400),
        ("POST", "/layout", [1], {}, 400),
        ("POST", "/layout", {"a": "4:1", "b": "2:1"}, {}, 400),
        ("POST", "/layout", {"operation": "exec", "a": "4:1", "b": "2:1"}, {}, 400),
        ("POST", "/layout", {"operation": "coalesce", "a": 4, "b": ""}, {}, 400),
        ("POST", "/check", {"text": "", "name": "a.mlir", "arch": "sm_1"}, {}, 400),
        ("POST", "/setup", b"{}", {}, 404),
        ("PUT", "/file", b"x", {}, 501),
    ],
)
def test_wrong_requests(
    method: str,
    path: str,
    body: Any,
    headers: dict[str, str],
    status: int,
    server: PlaygroundServer,
):
    assert ask(server, method, path, body, **headers)[0] == status


def test_diagnostics_have_the_places_that_browsers_count(server: PlaygroundServer):
    text = "// 😀\n" + MMA.replace("16x8x16", "16x8x12")
    [wrong] = answer(server, "check", text=text, name="k.mlir", arch="")["diagnostics"]
    units = text.encode("utf-16-le")[2 * wrong["start"] : 2 * wrong["end"]]
    assert units.decode("utf-16-le") == "16x8x12" and "nearest legal" in wrong["message"]
    assert answer(server, "check", text=MMA, name="k.mlir", arch="sm_90a") == {"diagnostics": []}


def test_every_level_is_there(server: PlaygroundServer):
    shown = answer(server, "levels", text=GEMM, name="k.mlir", arch="sm_80")
    names = [level["name"] for level in shown["levels"]]
    assert names[0] == "verified" and names[-2:] == ["convert-cute-nvgpu-to-ptx", "PTX"]
    assert shown["levels"][-1]["text"] == tw.compile(GEMM, "sm_80", name="k.mlir").ptx
    for level in shown["levels"][:-1]:
        assert verified(level["text"])[0].body.ops


def test_a_level_that_fails_is_marked(server: PlaygroundServer):
    shown = answer(server, "levels", text=GEMM, name="k.mlir", arch="sm_70")
    [wrong] = shown["diagnostics"]
    assert shown["levels"] and "sm_80" in wrong["message"] and wrong["end"] > wrong["start"] > 0


def test_a_level_names_the_target_that_it_is_for(server: PlaygroundServer):
    shown = answer(server, "levels", text=GEMM, name="k.mlir", arch="")
    assert shown["for"] == "for sm_80, the lowest that it needs"
    assert ".target sm_80\n" in shown["levels"][-1]["text"]


AXPY = (EXAMPLES / "axpy.mlir").read_text()
LOOP = """func.func @k(%p: memref<?xi32>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  gpu.printf "before\\0A"
  scf.while : () -> () {
    %v = memref.load %p[%c0] : memref<?xi32>
    %w = arith.addi %v, %c1 : i32
    memref.store %w, %p[%c0] : memref<?xi32>
    %true = arith.constant true
    scf.condition(%true)
  } do {
    scf.yield
  }
  func.return
}"""


def ran(server: PlaygroundServer, text: str, arguments: str) -> dict[str, Any]:
    return answer(server, "run", text=text, name="k.mlir", arch="", arguments=arguments)


def test_a_run_shows_its_arrays(server: PlaygroundServer):
    words = "--grid 2 --block 4 x=zeros:8 y=zeros:8 a=2.0 n=8"
    shown = ran(server, AXPY, words)
    zeros = "[0. 0. 0. 0. 0. 0. 0. 0.]"
    assert shown["levels"][0]["text"] == f"x: 8 float32\n{zeros}\ny: 8 float32\n{zeros}\n"
    assert shown["arguments"] == words and not shown["diagnostics"]
    assert ran(server, AXPY, words + " --schedules 2")["levels"] == shown["levels"]
    assert ran(server, AXPY, " ")["arguments"] == "--grid 1 --block 32 16384 16384 1.0 128"


def test_a_run_without_end_has_one(server: PlaygroundServer):
    """What it printed until then is shown, and the loop that it is in."""
    shown = ran(server, LOOP, "--grid 1 --block 1 --max-steps 500 1:i32")
    text = shown["levels"][0]["text"]
    assert text.startswith("before\n") and "k.mlir:5:3: error: 'scf.while'" in text
    lines = shown["levels"][0]["lines"]
    assert dict(zip(text.splitlines(), lines, strict=True))["before"] == 4 and lines[2] == 5
    [wrong] = shown["diagnostics"]
    assert LOOP[wrong["start"] : wrong["end"]] == "scf.while"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--grid 1 --block 1 /etc/passwd 8 2.0 8", "no file here"),
        ("--grid 1 --block 1 out.npy=@in.npy 8 2.0 8", "no file here"),
        ("--grid 1 --block 1 8", "missing: y: memref<?xf32>"),
        ("--grid 1 --block 1 99999999x99999999 8 2.0 8", "fits into memory"),
        ("--grid 1 --executor processes:9 8 8 2.0 8", "--executor"),
        ("--grid '", "No closing quotation"),
    ],
)
def test_a_run_refuses(server: PlaygroundServer, arguments: str, said: str):
    assert said in ran(server, AXPY, arguments)["levels"][0]["text"]


def test_scripts_run_where_the_server_is_told_so(server: PlaygroundServer):
    fields = {"text": "print(1)", "name": "kernel.py", "arch": ""}
    status, content, _ = ask(server, "POST", "/script", fields)
    assert status == 403 and b"tilewright serve --python" in content
    assert not json.loads(ask(server, "GET", "/setup")[1])["python"]


def test_no_question_but_a_script_runs_python(server: PlaygroundServer, tmp_path: Path):
    """Not by a comment that says for what a kernel is compiled, either."""
    left = tmp_path / "left"
    text = f"x = open({str(left)!r}, 'w')\n\n\n# tilewright: a=8:f32\ndef k(a, b=x):\n    x\n"
    fields = {"text": text, "name": "kernel.py", "arch": ""}
    assert answer(server, "check", **fields) == {"diagnostics": []}
    answer(server, "levels", **fields)
    answer(server, "about", offset="3", **fields)
    answer(server, "run", arguments="", **fields)
    assert not left.exists()
    [wrong] = answer(server, "check", **fields | {"text": "x = (\n"})["diagnostics"]
    assert "never closed" in wrong["message"] and wrong["start"] == 4


def test_scripts_run_in_a_process_of_their_own(tmp_path: Path):
    """What one leaves behind the next does not see; its levels are of the lines of the script."""
    (tmp_path / "a.py").write_text(
        "import os, builtins\nbuiltins.left = 1\nprint(os.getpid())\nexit()\n"
    )
    with PlaygroundServer(0, tmp_path, python=True) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        text = json.loads(ask(server, "GET", "/file?name=a.py")[1])["text"]
        fields = {"name": "kernel.py", "arch": "sm_90a"}
        first = answer(server, "script", text=text, **fields)["levels"][-1]["text"]
        kernel = (
            "import cuda.tile as ct, numpy as np\n@ct.kernel\ndef k(a):\n"
            "    ct.store(a, (0,), ct.load(a, (0,), (16,)))\n"
            "@ct.kernel\ndef second(a):\n    ct.printf('%d\\n', ct.bid(0))\n"
            "for one in (k, second):\n    ct.launch(None, (1,), one, (np.ones(16, np.float32),))\n"
            "print(left)\n"
        )
        second = answer(server, "script", text=kernel, **fields)
        server.shutdown()
        thread.join()
    assert int(first) > 0
    said = second["levels"][-1]["text"]
    assert second["levels"][-1]["lines"][:3] == [7, None, 10]
    assert said.startswith("0\n\nkernel.py:10:1: error: NameError: name 'left'")
    shown = {one["name"]: one["lines"] for one in second["levels"]}
    assert 4 in shown["k PTX"] and 7 in shown["second PTX"] and second["diagnostics"]


def test_pictures_at_the_cursor(server: PlaygroundServer):
    text = '!t = !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">'
    fields = {"text": text, "name": "k.mlir", "arch": "", "offset": str(text.index("((4") + 1)}
    shown = answer(server, "about", **fields)["markdown"]
    [image] = re.findall(r"base64,(.*?)\)", shown)
    assert (
        len(ElementTree.fromstring(base64.b64decode(image)).findall("{*}text[@class='cell']"))
        == 128
    )


@pytest.mark.parametrize(
    ("operation", "a", "b", "expected"),
    [
        ("composition", "20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("complement", "4:2", "16", "(2,2):(1,8)"),
        ("logical_divide", "16:1", "4:2", "(4,(2,2)):(2,(1,8))"),
        ("zipped_divide", "(6,8):(8,1)", "(3,4)", "((3,4),(2,2)):((8,1),(24,4))"),
        ("zipped_divide", "(6,8):(8,1)", "[3:2; 4]", None),
        ("right_inverse", "(2,4):(4,1)", "", "(4,2):(2,1)"),
        ("left_inverse", "(4,2):(1,10)", "nonsense", "(10,2):(1,4)"),
    ],
)
def test_layout_algebra(
    operation: str, a: str, b: str, expected: str | None, server: PlaygroundServer
):
    shown = answer(server, "layout", operation=operation, a=a, b=b)
    if expected is None:
        tiler = (cute.Layout.parse("3:2"), 4)
        expected = str(cute.zipped_divide(cute.parse_layout(a), tiler))
    assert shown["result"] == expected
    drawn = ElementTree.fromstring(shown["pictures"][-1]["svg"]).findall("{*}text[@class='cell']")
    layout = cute.Layout.parse(expected)
    assert sorted(int(cell.text or "") for cell in drawn) == sorted(
        map(layout, range(layout.size()))
    )


@pytest.mark.parametrize(
    ("operation", "a", "b", "field"),
    [
        ("composition", "20:", "4:1", "a"),
        ("composition", "20:2", "(5,4", "b"),
        ("composition", "(6,4):(1,7)", "4:5", "result"),
        ("complement", "4:1", "((((", "b"),
    ],
)
def test_wrong_layouts(operation: str, a: str, b: str, field: str, server: PlaygroundServer):
    shown = answer(server, "layout", operation=operation, a=a, b=b)
    assert shown["field"] == field and shown["error"] and "result" not in shown


def test_a_large_layout_is_not_drawn(server: PlaygroundServer):
    shown = answer(server, "layout", operation="coalesce", a="(512,512):(1,512)", b="")
    assert shown["result"] == "262144:1" and "svg" not in shown["pictures"][0]


def test_instructions(server: PlaygroundServer):
    mnemonic = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
    shown = answer(server, "instruction", mnemonic=mnemonic, arch="")
    assert "computes" in shown["text"] and len(shown["pictures"]) == 4
    assert "sm_80" in answer(server, "instruction", mnemonic=mnemonic, arch="sm_75")["error"]
    plain = answer(server, "instruction", mnemonic="wgmma.fence.sync.aligned", arch="sm_90a")
    assert "computes" in plain["text"] and not plain["pictures"]


def test_a_question_that_takes_too_long_is_ended():
    """The process that works on it, too: the next one answers."""
    worker = Worker(0.01, MEMORY, ANSWERS)
    question = {"operation": "coalesce", "a": "(2,2):(1,2)", "b": ""}
    text = (EXAMPLES / "gemm_sm90.mlir").read_text()
    with pytest.raises(Unanswered, match=r"within 0\.01 seconds"):
        worker.ask("check", {"text": text, "name": "gemm.mlir", "arch": "sm_90a"})
    worker._seconds = 60
    assert worker.ask("layout", question)["result"] == "4:1"
    worker.stop()


def test_a_process_that_ends_is_started_anew():
    worker = Worker(60, MEMORY, ANSWERS)
    question = {"operation": "coalesce", "a": "(2,2):(1,2)", "b": ""}
    assert worker.ask("layout", question)["result"] == "4:1"
    worker._process.kill()
    with pytest.raises(Unanswered, match="the process that answers ended"):
        worker.ask("layout", question)
    assert worker.ask("layout", question)["result"] == "4:1"
    worker.stop()


def test_a_question_that_needs_too_much_memory():
    worker = Worker(60, 1 << 20, ANSWERS)
    with suppress(Unanswered):
        text = "builtin.module {\n" + "  arith.constant 0 : i32\n" * 20_000 + "}"
        answer = worker.ask("check", {"text": text, "name": "constants.mlir", "arch": ""})
        assert "error" in answer or "internal error" in str(answer)
    worker.stop()


@pytest.mark.parametrize("words, why", [
    (["no/such/folder"], "expected a folder, got 'no/such/folder'"),
    (["--port", "99999"], "cannot listen on port 99999: "),
])  # fmt: skip
def test_wrong_usage(words: list[str], why: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as leaving:
        main(["serve", *words])
    assert leaving.value.code == 1
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {why}") and not said.out
