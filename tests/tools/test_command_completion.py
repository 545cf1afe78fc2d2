"""Completion scripts: bash completes by its own, and every shell's names every option."""

from __future__ import annotations

import contextlib
import io
import shlex
import subprocess

import pytest

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.commands.completion import SHELLS
from tilewright.tools.commands.parsers import COMMANDS, command_module, command_parser
from tilewright.tools.tilewright import main


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """Each shell's script."""
    printed: dict[str, str] = {}
    for shell in SHELLS:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            main(["completion", shell])
        printed[shell] = output.getvalue()
    return printed


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tilewright ", [*COMMANDS, "--help", "--version"]),
        ("tilewright check", ["check", "check-ptx"]),
        ("/usr/bin/tilewright run --num", ["--numerics"]),
        ("tilewright run --numerics ", ["hardware", "exact", "fast"]),
        ("tilewright run --arch sm_7", ["sm_70", "sm_72", "sm_75"]),
        ("tilewright atoms --arch ", list(TARGETS)),
        ("tilewright desc enc", ["encode"]),
        ("tilewright layout mma S", ["SFA", "SFB"]),
        ("tilewright run --grid ", []),
        ("tilewright run pyproj", ["pyproject.toml"]),
        ("tilewright layout mma --svg pyproj", ["pyproject.toml"]),
        ("tilewright-opt pyproj", ["pyproject.toml"]),
        ("tilewright-opt -t pt", ["ptx"]),
        ("tilewright-opt -p cse,cute-nvgpu-check-h", ["cse,cute-nvgpu-check-hazards"]),
        ("tilewright-opt --verify-by", ["--verify-by-running"]),
    ],
)  # fmt: skip
def test_bash_completes(
    line: str, expected: list[str], scripts: dict[str, str], pytestconfig: pytest.Config
):
    words = line.split(" ")
    ask = (
        f"{scripts['bash']}\nCOMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}\n"
        f"_tilewright {shlex.join([words[0], *words[-1:-3:-1]])}\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        ["bash", "-u"], input=ask, capture_output=True, text=True, cwd=pytestconfig.rootpath
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_there(shell: str, scripts: dict[str, str]):
    for name in COMMANDS:
        parser = command_parser(name, command_module(name))
        for option in parser._option_string_actions:
            assert option.lstrip("-") in scripts[shell], f"{name} {option}"
