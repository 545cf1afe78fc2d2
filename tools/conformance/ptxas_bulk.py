"""ptxas in bulk: which of many instructions does it take for a target?

ptxas looks at a text three times, and each stage tells its errors in its own way:

1. The parser names the line of every error: some 200,000 lines a second. On a few malformed wmma
   forms it crashes: a line that is wrong on purpose stands last, and shows whether it came there.
2. What the parser takes, a second check may refuse (tf32 m16n8k16). It stops at its first error,
   so each candidate is a file of its own; one run takes hundreds of them. A few malformed wmma
   forms break the text that ptxas puts in their place (`<builtin>`), and with it the one or two
   files that follow: empty kernels stand there to take the damage, and show who did it.
3. The assembler sees a text without errors. At -O0: else it drops an mma whose result is unused.

An instruction is taken where it went through all three for that very target.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from tilewright.launch.ptxas import find_ptxas
from tilewright.tools.conformance.operand_text import REGISTERS

_LINES = 16384  # candidates in one text of the parser
_FILES = 512  # candidates in one run of the assembler
_WRONG = "wrong;"
_BUILTIN = "<builtin>"
_SPACERS = 3
_NO_TARGET = "is not defined for option 'gpu-name'"

_ERROR = re.compile(r"^ptxas (\S+), line (\d+)\s*;\s*(?:error|fatal)", re.MULTILINE)


def taken(instructions: Sequence[str], target: str) -> list[bool]:
    """True where ptxas takes an instruction for the target, with the newest `.version` it has."""
    everything = range(len(instructions))
    parsed = [
        i for chosen in _slices(everything, _LINES) for i in _parsed(chosen, instructions, target)
    ]
    assembled = {
        i for chosen in _slices(parsed, _FILES) for i in _assembled(chosen, instructions, target)
    }
    return [i in assembled for i in everything]


def _slices(chosen: Sequence[int], length: int) -> Iterator[Sequence[int]]:
    return (chosen[start : start + length] for start in range(0, len(chosen), length))


def _parsed(chosen: Sequence[int], instructions: Sequence[str], target: str) -> Sequence[int]:
    """The instructions that parse, of some."""
    parsed: list[int] = []
    while chosen:
        wrong = _wrong_places([*(instructions[i] for i in chosen), _WRONG], target)
        if not wrong:
            return [*parsed, *_in_halves(_parsed, chosen, instructions, target)]
        read = max(wrong) + 1  # ptxas may have crashed behind it
        parsed += [i for place, i in enumerate(chosen[:read]) if place not in wrong]
        chosen = chosen[read:]
    return parsed


def _wrong_places(lines: Sequence[str], target: str) -> set[int]:
    """The places of the lines with errors of the parser."""
    with tempfile.TemporaryDirectory(prefix="tilewright-lattice-") as folder:
        text, first = kernel(lines, target, "k")
        Path(folder, "all.ptx").write_text(text)
        said, _ = _run(folder, ["all.ptx"], target.replace("sm_", "compute_"))
    places = {int(line) - first for name, line in _ERROR.findall(said) if name == "all.ptx"}
    if any(place < 0 for place in places):
        raise RuntimeError(f"ptxas takes no kernel for {target}: {said.splitlines()[0]}")
    return places


def _assembled(chosen: Sequence[int], instructions: Sequence[str], target: str) -> Sequence[int]:
    """The instructions that assemble, of some that parse."""
    if not chosen:
        return ()
    said, ok = _each_alone(chosen, instructions, target, spacers=0)
    if ok:
        return chosen
    if _BUILTIN in said:
        said, _ = _each_alone(chosen, instructions, target, spacers=_SPACERS)
    refused = {int(name.split("-")[0]) for name, _ in _ERROR.findall(said) if name != _BUILTIN}
    if not refused:
        return _in_halves(_assembled, chosen, instructions, target)
    return _assembled([i for i in chosen if i not in refused], instructions, target)


def _each_alone(
    chosen: Sequence[int], instructions: Sequence[str], target: str, spacers: int
) -> tuple[str, bool]:
    """The words of the assembler of files 0-0.ptx, 1-0.ptx ... of an instruction each, and whether
    all is well. Behind each stand empty kernels, 0-1.ptx ..., as many as `spacers`."""
    with tempfile.TemporaryDirectory(prefix="tilewright-lattice-") as folder:
        names: list[str] = []
        for i in chosen:
            for place in range(spacers + 1):
                lines = () if place else (instructions[i],)
                names.append(f"{i}-{place}.ptx")
                Path(folder, names[-1]).write_text(kernel(lines, target, f"k{i}_{place}")[0])
        return _run(folder, names, target)


def _in_halves(
    stage: Callable[[Sequence[int], Sequence[str], str], Sequence[int]],
    chosen: Sequence[int],
    instructions: Sequence[str],
    target: str,
) -> Sequence[int]:
    """Those that pass the stage where ptxas does not tell which is wrong; one alone is."""
    if len(chosen) == 1:
        return ()
    middle = len(chosen) // 2
    halves = chosen[:middle], chosen[middle:]
    return [i for half in halves for i in stage(half, instructions, target)]


def kernel(lines: Iterable[str], target: str, entry: str) -> tuple[str, int]:
    """A PTX text of one kernel that holds the lines, and the number of the first, from 1."""
    head = [
        f".version {newest_version()}",
        f".target {target}",
        ".address_size 64",
        f".visible .entry {entry}()",
        "{",
        *REGISTERS,
    ]
    return "\n".join([*head, *lines, "ret;", "}", ""]), len(head) + 1


def _run(folder: str, names: Sequence[str], arch: str) -> tuple[str, bool]:
    """The words of ptxas on the files, and whether all is well."""
    run = subprocess.run(
        [find_ptxas(), "-O0", f"-arch={arch}", *names, "-o", "all.cubin"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",  # ptxas may print stray bytes where it names what it refuses
        check=False,
    )
    said = run.stdout + run.stderr
    if _NO_TARGET in said:
        raise RuntimeError(f"ptxas does not know {arch}: {said}")
    return said, run.returncode == 0


@cache
def newest_version() -> str:
    """The newest PTX ISA version of this ptxas: 9.5."""
    listed = subprocess.run(
        [find_ptxas(), "--list-version"], capture_output=True, text=True, check=True
    )
    return max(listed.stdout.split(), key=lambda version: [*map(int, version.split("."))])
