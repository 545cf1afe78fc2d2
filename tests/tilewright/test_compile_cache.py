"""The cache of compiled kernels: for several processes at once, bounded, and never wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.launch import compile_cache
from tilewright.launch.compile_cache import cached, entries, key_of
from tilewright.tools.tilewright import main

_WRITER = """
import sys
from tilewright.launch.compile_cache import cached
for turn in range(40):
    for key in range(8):
        content = cached(f"{key:064}", lambda: {"key": key, "text": str(key) * 20000})
        assert content == {"key": key, "text": str(key) * 20000}, content["key"]
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    return tmp_path


def refused() -> object:
    raise AssertionError("made again")


def test_several_processes_write_and_read_at_once(own_cache: Path):
    """Each sees whole entries alone, though there is room for five of the eight."""
    room = dict(os.environ, TILEWRIGHT_CACHE_MIB="0.1")
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER], env=room) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert 0 < sum(size for _, size, _ in entries()) <= 105_000
    assert {path.suffix for path in own_cache.iterdir()} == {".kernel"}


def test_a_corrupt_entry_is_made_again():
    cached("a", lambda: [1])
    assert cached("a", refused) == [1]
    ((_, _, path),) = entries()
    for broken in (b"", path.read_bytes()[:-1], path.read_bytes().replace(b"1]", b"2]"), b"\xff\n"):
        path.write_bytes(broken)
        assert cached("a", lambda: [3]) == [3]
        assert cached("a", refused) == [3]


def test_what_was_used_longest_ago_goes(monkeypatch: pytest.MonkeyPatch):
    for i, key in enumerate("abc"):
        cached(key, lambda: "x" * 40_000)
        os.utime(compile_cache._path(key), (i, i))
    cached("a", refused)
    monkeypatch.setenv("TILEWRIGHT_CACHE_MIB", "0.1")
    cached("d", lambda: "x" * 40_000)
    assert sorted(path.stem for *_, path in entries()) == ["a", "d"]
    monkeypatch.setenv("TILEWRIGHT_CACHE_MIB", "0")
    assert cached("a", lambda: 5) == 5


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "file" / "folder"))
    assert cached("a", lambda: 1) == 1 and cached("a", lambda: 2) == 2


def test_keys_tell_inputs_and_targets_apart():
    keys = {key_of(code, arch=arch) for code in (b"a", b"b") for arch in ("sm_80", "sm_90a")}
    assert len(keys) == 4 and key_of(b"a", arch="sm_80") in keys


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    cached("a", lambda: 1)
    main(["cache", "info"])
    main(["cache", "clear"])
    said = capsys.readouterr().out
    assert "1 kernels, 0.0 of 512 MiB" in said and "1 kernels deleted" in said
    assert not entries()
    monkeypatch.setenv("TILEWRIGHT_CACHE_MIB", "many")
    with pytest.raises(SystemExit) as ended:
        main(["cache", "info"])
    assert ended.value.code == 1
    assert "expected a number of MiB as TILEWRIGHT_CACHE_MIB, got 'many'" in capsys.readouterr().err
