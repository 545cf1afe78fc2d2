"""`tilewright conformance`: verdicts, exit status, and the same by any executor."""

from __future__ import annotations

import io
import pickle
import re
import sys
import tarfile
import zlib
from pathlib import Path

import distributed
import pytest

from tilewright.tools.conformance.records import records
from tilewright.tools.tilewright import main

RECORDS = Path(__file__).parents[1] / "silicon/fixtures/cuda_tile.tar"


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, list[str], str]:
    """The exit status and what was printed."""
    status: object = 0
    try:
        main(["conformance", *words])
    except SystemExit as leaving:
        status = leaving.code
    printed = capsys.readouterr()
    return status, printed.out.splitlines(), printed.err


def test_the_lattice(capsys: pytest.CaptureFixture[str]):
    words = ["lattice", "--family", "movmatrix", "--family", "ldmatrix", "--target", "sm_90"]
    status, lines, _ = run([*words, "--sample", "40", "--list", "--jobs", "2"], capsys)
    assert status == 0
    rows = [line.split() for line in lines]
    assert [row[:2] for row in rows[1:3]] == [["ldmatrix", "sm_90"], ["movmatrix", "sm_90"]]
    assert all(int(row[2]) >= 8 and row[4] == "100.00" for row in rows[1:3])


def test_operands(capsys: pytest.CaptureFixture[str]):
    status, lines, _ = run(
        ["operands", "--target", "sm_90a", "--sample", "60", "--jobs", "1"], capsys
    )
    assert (status, lines) == (0, ["60 instructions of 1 targets, 0 disagreements"])


def test_records(capsys: pytest.CaptureFixture[str]):
    words = ["records", str(RECORDS), "--only", "s"]
    status, lines, _ = run([*words, "--jobs", "2"], capsys)
    assert status == 0
    assert " equal, " in lines[-1] and " within bounds; " in lines[-1]
    _, text, _ = run([*words, "--text", "--jobs", "1"], capsys)
    assert "the same from both texts" in text[-1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("words, unit", [
    (["lattice", "--family", "movmatrix", "--target", "sm_90", "--sample", "3"], "tasks"),
    (["operands", "--target", "sm_90a", "--sample", "3"], "targets"),
    (["records", str(RECORDS), "--only", "collatz"], "records"),
])  # fmt: skip
def test_progress_is_shown_on_a_terminal(
    words: list[str], unit: str, monkeypatch: pytest.MonkeyPatch
):
    terminal = Terminal()
    monkeypatch.setattr("tilewright.progress._PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", terminal)
    main(["conformance", *words, "--jobs", "1"])
    assert re.search(rf"\r\[#+\.*\] (\d+)/\d+ {unit}, \d+ s", terminal.getvalue())


def test_a_dask_cluster(capsys: pytest.CaptureFixture[str]):
    """The same by another executor."""
    lattice = ["lattice", "--family", "movmatrix", "--target", "sm_90", "--sample", "9"]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False,
                                  dashboard_address=None, scheduler_port=0) as cluster:  # fmt: skip
        answers = [
            run([*words, "--executor", executor], capsys)[:2]
            for words in (["records", str(RECORDS), "--only", "c"], lattice)
            for executor in ("processes:1", f"dask:{cluster.scheduler_address}")
        ]  # fmt: skip
    for (status, here), (other, there) in (answers[:2], answers[2:]):
        assert status == other == 0
        # But for the seconds that it took.
        assert [line.split(";")[0] for line in here] == [line.split(";")[0] for line in there]


def test_a_record_that_another_chip_would_have_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A bit of the result is another: the record, the argument and the element are named."""
    name, record = next((name, each) for name, each in records(RECORDS))
    place = max(i for i, each in enumerate(record["after"]) if isinstance(each, dict))
    data = bytearray(zlib.decompress(record["after"][place]["data"]))
    data[0] ^= 1
    record["after"][place]["data"] = zlib.compress(bytes(data))
    (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(record))
    status, lines, _ = run(["records", str(tmp_path), "--jobs", "1"], capsys)
    assert status == 1
    assert lines[0].startswith(f"FAILED: {name} ")
    assert f"argument {place}: 1 of " in lines[1] and "the first at 0: " in lines[1]


@pytest.mark.parametrize(
    "words, status, message",
    [
        (["lattice", "x.tar"], 2, "expected no files for lattice"),
        (["records"], 2, "expected a FILE of records"),
        (["records", "nowhere.tar", "--jobs", "1"], 1, "cannot read 'nowhere.tar': "),
        (["records", "pyproject.toml", "--jobs", "1"], 1, "cannot read 'pyproject.toml': "),
        (["records", "x", "--arch", "sm_1"], 1, "sm_1"),
        (["lattice", "--executor", "cloud"], 1, "cannot use --executor: expected an executor of"),
    ],
)
def test_wrong_usage(
    words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
):
    got, _, said = run(words, capsys)
    assert got == status and message in said and "Traceback" not in said


def test_a_tar_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.add(__file__, "other.pkl")
    status, _, said = run(["records", str(tmp_path / "other.tar"), "--jobs", "1"], capsys)
    assert status == 1 and "expected a record, got: " in said


def test_no_ptxas(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TILEWRIGHT_PTXAS", "nowhere")
    status, _, said = run(["lattice", "--jobs", "1"], capsys)
    assert status == 1 and "names 'nowhere', which is no file" in said
