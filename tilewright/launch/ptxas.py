"""NVIDIA's assembler as an oracle: find ptxas, run it on a PTX text, read what it says.

    python -m tilewright.launch.ptxas sm_80 kernel.ptx     # `-` or nothing: from stdin

ptxas is looked for, in this order, at `$TILEWRIGHT_PTXAS`, in the PyPI package
`nvidia-cuda-nvcc`, and on PATH.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Error
from tilewright.launch.compile_cache import cached, key_of

VARIABLE = "TILEWRIGHT_PTXAS"
USAGE = 2


class PtxasNotFound(Error, RuntimeError):
    """There is no ptxas here; the message names the three ways to give one."""


@frozen
class KernelResources:
    """One kernel's share of an SM: registers a thread, static shared memory in bytes, and the
    bytes that it spills to local memory and loads back."""

    registers: int
    shared_bytes: int
    spill_stores: int
    spill_loads: int


@frozen
class PtxasReport:
    """The verdict of ptxas on a text: `ok` where it assembled, warnings or not, into `cubin`."""

    ok: bool
    kernels: dict[str, KernelResources]
    warnings: list[str]
    errors: list[str]
    version: str
    output: str
    cubin: bytes

    @property
    def clean(self) -> bool:
        """True where it assembled as it is written, without a warning."""
        return self.ok and not self.warnings and not self.mended

    @property
    def mended(self) -> list[str]:
        """Where ptxas had to put the registers or the order of wgmmas right, which may serialise
        them; without optimizing it may do so to any."""
        return [line for line in self.output.splitlines() if _MENDED.search(line)]


def find_ptxas() -> Path:
    """Where ptxas is. Raises PtxasNotFound."""
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_file():
            raise PtxasNotFound(f"{VARIABLE} names '{named}', which is no file")
        return Path(named)
    packaged = _packaged()
    if packaged is not None:
        return packaged
    if (path := shutil.which("ptxas")) is not None:
        return Path(path)
    raise PtxasNotFound(
        f"no ptxas: set {VARIABLE} to its path, install the package nvidia-cuda-nvcc "
        "(pip install tilewright[ptxas]), or put a CUDA toolkit's bin folder on PATH"
    )


def _packaged() -> Path | None:
    """The newest ptxas of NVIDIA's wheels: `nvidia/cu13/bin` since CUDA 13, `nvidia/cuda_nvcc/bin`
    before."""
    spec = find_spec("nvidia")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    candidates = [
        path
        for folder in folders
        for name in ("ptxas", "ptxas.exe")
        for path in Path(folder).glob(f"cu*/bin/{name}")
    ]
    return max(candidates, key=_release, default=None)


def _release(path: Path) -> int:
    """13 of `cu13/bin/ptxas`; 0 where the folder says no number."""
    match = re.fullmatch(r"cu(\d+)", path.parent.parent.name)
    return 0 if match is None else int(match[1])


@cache
def ptxas_version(path: Path) -> str:
    """The release of a ptxas, `13.5.37`."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"V([\d.]+)", said)
    return said.strip() if match is None else match[1]


def assemble(
    ptx: str, arch: str, *, verbose: bool = True, options: Sequence[str] = ()
) -> PtxasReport:
    """The verdict of ptxas on a PTX text for `arch` (`sm_90a`); with `verbose`, also of each
    kernel's resources. Raises PtxasNotFound."""
    path = find_ptxas()
    with tempfile.TemporaryDirectory(prefix="tilewright-ptxas-") as folder:
        source = Path(folder, "text.ptx")
        source.write_text(ptx)
        flags = ["-v"] if verbose else []
        run = subprocess.run(
            [path, *flags, f"-arch={arch}", *options, source.name, "-o", "text.cubin"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",  # ptxas may print stray bytes where it names what it refuses
            check=False,
        )
        cubin = Path(folder, "text.cubin").read_bytes() if run.returncode == 0 else b""
    output = run.stdout + run.stderr
    return PtxasReport(
        run.returncode == 0,
        _kernels(output),
        [line for line in output.splitlines() if _level(line) == "warning"],
        [line for line in output.splitlines() if _level(line) in ("error", "fatal")],
        ptxas_version(path),
        output,
        cubin,
    )


def assembled(ptx: str, arch: str) -> bytes | None:
    """The machine code of a text, from the cache of compiled kernels where it is there; None where
    no ptxas is here, or none that takes the text."""

    def make() -> str:
        return b64encode(assemble(ptx, arch, verbose=False).cubin).decode()

    try:
        key = key_of(ptx.encode(), arch=arch, ptxas=ptxas_version(find_ptxas()))
    except PtxasNotFound:
        return None
    return b64decode(cached(key, make)) or None


_LEVEL = re.compile(r"^ptxas.*?\b(info|warning|error|fatal)\s*:")
_MENDED = re.compile(r"\(C75\d\d\)")
_KERNEL = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


def _level(line: str) -> str | None:
    match = _LEVEL.match(line)
    return None if match is None else match[1].lower()


def _kernels(output: str) -> dict[str, KernelResources]:
    """The resources of each kernel, from the paragraphs that `-v` prints."""
    resources: dict[str, KernelResources] = {}
    name, spills = None, (0, 0)
    for line in output.splitlines():
        if (match := _KERNEL.search(line)) is not None:
            name, spills = match[1], (0, 0)
        elif (match := _SPILLS.search(line)) is not None:
            spills = int(match[1]), int(match[2])
        elif name is not None and (match := _REGISTERS.search(line)) is not None:
            shared = _SHARED.search(line)
            size = 0 if shared is None else int(shared[1])
            resources[name] = KernelResources(int(match[1]), size, *spills)
    return resources


def main(arguments: Sequence[str] | None = None) -> int:
    """Assemble a file and list its kernels' resources; 1 where it does not assemble cleanly."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) not in (1, 2):
        print("usage: python -m tilewright.launch.ptxas ARCH [FILE]", file=sys.stderr)
        return USAGE
    try:
        source = given[1] if len(given) == 2 else "-"
        text = sys.stdin.read() if source == "-" else Path(source).read_text()
        report = assemble(text, given[0])
    except (OSError, PtxasNotFound) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    for name, kernel in report.kernels.items():
        print(
            f"{name}: {kernel.registers} registers, {kernel.shared_bytes} bytes shared, "
            f"{kernel.spill_stores} bytes spill stores, {kernel.spill_loads} bytes spill loads"
        )
    for line in (*report.warnings, *report.mended, *report.errors):
        print(line, file=sys.stderr)
    return 0 if report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
