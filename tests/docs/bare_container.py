"""The pages of the three doors where there is nothing but the wheel and what it asks for: no
checkout, an empty home, no toolkit, no network, an empty folder.

    $ .venv/bin/python tests/docs/bare_container.py   # needs a package index, and Linux's unshare

Python of a page is one program; commands of ours run behind it. The exit status is 1 where one of
them fails that the page does not show to fail.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

from page_examples import ROOT, blocks_of, consoles, words_of

PAGES = ("README", "docs/cutile", "docs/triton", "docs/tutorials/epilogue",
         "docs/tutorials/first_mma", "docs/tutorials/gemm", "docs/tutorials/tour")  # fmt: skip


def installed(folder: Path) -> Path:
    """The folder of an environment's commands, with the wheel of what is committed alone."""
    tree = folder / "tree"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{ROOT}", tree], check=True)
    build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(tree)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True)
    [wheel] = folder.glob("tilewright-*.whl")
    venv.create(folder / "venv", with_pip=True)
    commands = folder / "venv" / "bin"
    asked = f"{wheel}[cutile,triton]"
    subprocess.run([commands / "python", "-m", "pip", "install", "-q", asked], check=True)
    return commands


def run(page: str, commands: Path, folder: Path) -> list[str]:
    """The lines that say what failed of a page."""
    folder.mkdir(parents=True)
    blocks = blocks_of(ROOT / f"{page}.md")
    programs = [text for language, text in blocks if language == "python" and "on_gpu" not in text]
    # Each door of the README is a program of its own.
    programs = programs if page == "README" else ["\n".join(programs)]
    calls: list[Sequence[str]] = []
    for number, program in enumerate(programs):
        (folder / f"block{number}.py").write_text(program)
        calls.append(["python", f"block{number}.py"])
    shown = [[]] * len(calls)
    for command, parts in consoles(blocks):
        calls.append(words_of(command))
        shown.append(parts)
    failed: list[str] = []
    for call, parts in zip(calls, shown, strict=True):
        program = [commands / call[0], *call[1:]]
        done = subprocess.run(
            ["unshare", "-rn", *program], cwd=folder, env={"HOME": str(folder)}, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        if not all(part in printed for part in parts) or (done.returncode and not parts):
            failed.append(f"{page}: {' '.join(call)}: {printed[-400:]}")
        print(f"{page}: {' '.join(call)}: {done.returncode}")
    return failed


def main() -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory() as name:
        commands = installed(Path(name))
        wrong = [line for page in PAGES for line in run(page, commands, Path(name, "run", page))]
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
