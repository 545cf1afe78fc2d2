"""Completion in the shells themselves: what the line is after the Tab key. `make test-browser`.

bash and zsh run on a terminal of ours, as for a user; fish says what it would offer. Without one of
them its tests are errors: Debian has them as bash, zsh and fish.
"""

from __future__ import annotations

import os
import pty
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tilewright.tools.tilewright import main

SECONDS = 30
BEGIN = {
    # The last key but one, Control-X, writes the line to a file.
    "bash": """PS1=; source {script}
bind -x '"\\C-x": printf "%s" "$READLINE_LINE" > {line}.new; mv {line}.new {line}'
""",
    "zsh": """PS1=; fpath=({script:h} $fpath); autoload -U compinit; compinit -u -d {script}.dump
show() {{ print -rn -- "$BUFFER" > {line}.new; mv {line}.new {line} }}
zle -N show; bindkey '^X' show
""",
}
COMMANDS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
LINES = [
    ("tilewright check-p", "tilewright check-ptx "),
    ("tilewright run --numer", "tilewright run --numerics "),
    ("tilewright run --numerics har", "tilewright run --numerics hardware "),
    ("tilewright conformance lat", "tilewright conformance lattice "),
    ("tilewright atoms --arch sm_90", "tilewright atoms --arch sm_90"),
    ("tilewright-opt --verify-by", "tilewright-opt --verify-by-running "),
]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The script of each shell, in a folder as its users have it."""
    folder = tmp_path_factory.mktemp("scripts")
    names = {"bash": "tilewright.bash", "zsh": "_tilewright", "fish": "tilewright.fish"}
    paths = {shell: folder / name for shell, name in names.items()}
    for shell, path in paths.items():
        with pytest.MonkeyPatch.context() as patch, path.open("w") as file:
            patch.setattr("sys.stdout", file)
            main(["completion", shell])
    return paths


def completed(shell: str, script: Path, typed: str, folder: Path) -> str:
    """The line of a shell after the Tab key."""
    line = folder / "line"
    begin = BEGIN[shell].replace("{script:h}", str(script.parent))
    ours, theirs = pty.openpty()
    environment = {"TERM": "dumb", "HOME": str(folder), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        COMMANDS[shell], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        said: list[bytes] = []

        def read() -> None:
            with suppress(OSError):
                while piece := os.read(ours, 4096):
                    said.append(piece)

        threading.Thread(target=read, daemon=True).start()
        try:
            os.write(ours, begin.format(script=script, line=line).encode())
            os.write(ours, b"echo rea''dy\n")
            _wait(lambda: b"ready" in b"".join(said), said)
            os.write(ours, f"{typed}\t\x18".encode())
            _wait(line.exists, said)
        finally:
            process.kill()
    return line.read_text()


def _wait(done: object, said: list[bytes]) -> None:
    assert callable(done)
    end = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < end, b"".join(said).decode(errors="replace")
        time.sleep(0.02)


@pytest.mark.parametrize("shell", COMMANDS)
@pytest.mark.parametrize(("typed", "line"), LINES)
def test_the_tab_key(shell: str, typed: str, line: str, scripts: dict[str, Path], tmp_path: Path):
    assert completed(shell, scripts[shell], typed, tmp_path) == line


@pytest.mark.parametrize(("typed", "line"), LINES)
def test_fish_offers_the_same(typed: str, line: str, scripts: dict[str, Path]):
    ask = f"source {scripts['fish']}; complete -C '{typed}'"
    told = subprocess.run(
        ["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True
    )
    offered = {row.split("\t")[0] for row in told.stdout.splitlines()}
    word = line.split()[-1]
    assert word in offered
    assert all(other.startswith(word) for other in offered)
    assert told.stderr == ""
