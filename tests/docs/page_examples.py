"""The examples of a page of the documentation: its code and commands, and what it shows of each."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

from tilewright.tools import tilewright, tilewright_opt

ROOT = Path(__file__).parents[2]
COMMANDS = {"tilewright": tilewright.main, "tilewright-opt": tilewright_opt.main}


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """(language, text) of every fenced block."""
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return fence.findall(page.read_text())


def consoles(blocks: list[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """(command, parts that it prints) of every command of ours; `...` stands for anything."""
    shown: list[tuple[str, list[str]]] = []
    for text in (text for language, text in blocks if language == "console"):
        for told in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = told.partition("\n")
            if command.split()[0] in COMMANDS:
                shown.append((command, [part.strip("\n") for part in output.split("...\n")]))
    return shown


def words_of(command: str) -> list[str]:
    """The words of a command, without its comment and where its output goes."""
    words = shlex.split(command, comments=True)
    return words[: words.index(">")] if ">" in words else words


def ran(command: str) -> tuple[object, str]:
    """The exit status of one of our commands, and what it prints, on either stream."""
    program, *arguments = words_of(command)
    output, status = io.StringIO(), None
    streams = contextlib.redirect_stdout(output), contextlib.redirect_stderr(output)
    with streams[0], streams[1]:
        try:
            COMMANDS[program](arguments)
        except SystemExit as leaving:
            status = leaving.code
    return status, output.getvalue()


def printed_by_command(command: str) -> str:
    """What one of our commands prints, on either stream."""
    return ran(command)[1]


def printed_by_code(code: str, page: str, names: dict[str, Any]) -> str:
    """What Python code prints, which reads and defines `names`."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(code, page, "exec"), names)
    return output.getvalue()
