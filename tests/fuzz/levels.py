"""Mutants of Tile IR, of the `ptx` level, of PTX text and of Triton's, through all that takes a
module."""

from __future__ import annotations

import contextlib
import random
import re
import sys
import tarfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from answers import Broken, command, file_of, judged
from mutate import Followers, followers, mutant, mutant_bytes, tokens
from structure import attributes, mutant_module, text_of
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright.arguments.dtypes import DTYPES
from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.ops.module import EntryOp as TileEntryOp
from tilewright.execution import kernel_signature
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.pipeline import lower, run_pipeline, stages_of, verified
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import parse_module

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/dialects/cuda_tile/bytecode"))

from mutations import mutated  # noqa: E402

STEPS = 5_000
"""A step may be a product of tiles, which takes a millisecond."""
ARCHES = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
TARGETS = {"sm100": "sm_100a", "sm90": "sm_90a", "sm120": "sm_120a"}
"""The targets that names of examples tell."""


def _chunks(pattern: str) -> tuple[str, ...]:
    """The chunks of the files that are not about errors, the shorter ones."""
    files = [path for path in sorted(ROOT.glob(pattern)) if not path.stem.endswith("_errors")]
    parts = (part for path in files for part in path.read_text().split("// -----"))
    return tuple(part for part in parts if part.strip() and len(part) < 8000)


def _parsed(texts: Sequence[str]) -> tuple[str, ...]:
    """Those that parse."""
    read: list[str] = []
    for text in texts:
        with contextlib.suppress(tw.CompileError):
            read.append(text_of(parse_module(text)))
    return tuple(read)


@cache
def tile_texts() -> tuple[str, ...]:
    """Modules of Tile IR."""
    return _parsed([part for part in _chunks("tests/**/*.mlir") if "cuda_tile." in part])


@cache
def ptx_texts() -> tuple[str, ...]:
    """Modules of the `ptx` level: those of its own tests, and names of examples to be lowered."""
    paths = sorted(ROOT.glob("examples/*.mlir"))
    lowered = [path.stem for path in paths if len(path.read_text()) < 4000]
    return (*_parsed(_chunks("tests/filecheck/dialects/ptx/*.mlir")), *lowered)


@cache
def kernels() -> tuple[str, ...]:
    """Kernels of the levels of tiles and of atoms, which may not parse."""
    files = (*_chunks("examples/*.mlir"), *_chunks("tests/filecheck/**/*.mlir"))
    return tuple(part for part in files if "kernel" in part and "cuda_tile." not in part)


@cache
def triton_texts() -> tuple[str, ...]:
    """Functions as Triton prints them, each a module."""
    parts = _chunks("tests/filecheck/**/*.mlir")
    functions = [one for part in parts for one in re.split(r"(?=^tt\.func)", part, flags=re.M)]
    return _parsed([one for one in functions if "tt.func" in one])


@cache
def listings() -> tuple[str, ...]:
    """PTX text: kernels that nvcc wrote, each a module, and examples as they are compiled."""
    with tarfile.open(ROOT / "tests/silicon/fixtures/cuda_kernels.tar.xz") as tar:
        file = tar.extractfile("kernels_sm_90a.ptx")
        assert file is not None
        head, *kernels = re.split(r"(?=^\.visible \.entry)", file.read().decode(), flags=re.M)
    names = [text for text in ptx_texts() if "\n" not in text][::4]
    return (
        *(head + kernel for kernel in kernels if len(kernel) < 8000),
        *(tw.compile((ROOT / f"examples/{name}.mlir").read_text(), _target(name)).ptx
          for name in names),
    )  # fmt: skip


@cache
def _donors() -> tuple[str, ...]:
    """A few of them, which parse quickly: their attributes go to others."""
    return _parsed(kernels()[::12])


def _target(name: str) -> str:
    return next((arch for word, arch in TARGETS.items() if word in name), "sm_80")


@cache
def _lowered(name: str) -> str:
    return text_of(lower((ROOT / f"examples/{name}.mlir").read_text(), _target(name))[0])


@cache
def _tokens(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({word for text in texts for word in tokens(text) if word.strip()}))


@cache
def _behind(texts: Sequence[str]) -> Followers:
    return followers(texts)


def _of(texts: Sequence[str], text: str, rng: random.Random) -> str:
    """A mutant of a text, as text or as a module, in either format."""
    if rng.random() < 0.3:
        return mutant(rng, text, _tokens(texts))
    module = mutant_module(rng, text, attributes(texts))
    for generic in (rng.random() < 0.6, True):
        with contextlib.suppress(Exception):  # what does not verify need not print
            return text_of(module, generic=generic)
    return mutant(rng, text, _tokens(texts))


def tile(rng: random.Random) -> str:
    texts = tile_texts()
    return _of(texts, rng.choice(texts), rng)


def ptx(rng: random.Random) -> str:
    texts = ptx_texts()
    text = rng.choice(texts)
    own = tuple(text for text in texts if "\n" in text)
    return _of(own, text if "\n" in text else _lowered(text), rng)


def triton(rng: random.Random) -> str:
    texts = triton_texts()
    return mutant(rng, rng.choice(texts), _tokens(texts), _behind(texts))


def listing(rng: random.Random) -> str:
    texts = listings()
    text = min(rng.sample(texts, 2), key=len)  # Long ones take longer, and show no more.
    return mutant(rng, text, _tokens(texts), _behind(texts))


def tiles_and_atoms(rng: random.Random) -> str:
    text = rng.choice(kernels())
    try:
        return _of(_donors(), text, rng)
    except tw.CompileError:
        return mutant(rng, text, _tokens(_donors()))


@cache
def bytecodes() -> tuple[bytes, ...]:
    """Tile IR bytecode of the corpus."""
    written: list[bytes] = []
    for text in tile_texts():
        with contextlib.suppress(tw.CompileError, OpError):
            written.append(write_bytecode(parse_module(text)))
    return tuple(written)


def bytecode(rng: random.Random) -> bytes:
    """Bytes changed anywhere, or in their sections, or written of what is no module."""
    files = bytecodes()
    match rng.randrange(4):
        case 0:
            return mutant_bytes(rng, rng.choice(files))
        case 1 | 2:
            return mutated(rng.randrange(1 << 60), list(files))
        case _:
            texts = tile_texts()
            module = mutant_module(rng, rng.choice(texts), attributes(texts))
            try:
                return write_bytecode(module)
            except Exception:  # it is written of verified modules alone
                return mutant_bytes(rng, rng.choice(files))


# Ways through


SEEN = set[int]()
"""The modules that have gone every way in this process, by the hash of their text."""


def every_way(given: str | bytes, rng: random.Random) -> None:
    """Read, verify and print a mutant; what is legal is checked, compiled, run and written, once
    where many mutants are one module."""
    for module in _verified(given):
        text: list[int] = []
        judged(lambda module=module, text=text: text.append(hash(text_of(module, generic=True))),
               NotImplementedError)  # fmt: skip
        if not SEEN.issuperset(text):
            SEEN.update(text)
            for way in WAYS:
                way(module, rng)


def assembled(given: str | bytes, rng: random.Random) -> None:
    """Of what compiles, ptxas takes the PTX."""
    for module in _verified(given):
        _compiled(module, rng, assemble=True)


def checked_listing(given: str, rng: random.Random) -> None:
    """PTX text every way, and by `tilewright check`."""
    from tilewright.tools.tilewright import main

    arch = rng.choice(([], ["--arch", rng.choice(ARCHES)]))
    command(main, ["check", str(file_of(given, ".ptx")), *arch])
    every_way(given, rng)


def _verified(given: str | bytes) -> list[ModuleOp]:
    modules: list[ModuleOp] = []
    judged(lambda: modules.append(verified(given)[0]), tw.CompileError)
    return modules


def _read_back(module: ModuleOp, rng: random.Random) -> None:
    """It reads back as it is, in either format."""
    generic = rng.random() < 0.5
    read: list[str] = []

    def again() -> None:
        text = text_of(module, generic=generic)
        try:
            read.extend((text, text_of(parse_module(text), generic=generic)))
        except tw.CompileError as error:
            raise Broken(f"what prints does not read: {error.message[:80]}") from error

    judged(again, NotImplementedError)  # xDSL prints no f80 and no f128
    before, after = read or ("", "")
    if before != after:
        lines = zip(before.splitlines(), after.splitlines(), strict=False)
        first = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
        raise Broken(f"what prints reads as another: {first[0].strip()[:60]}")


def _compiled(module: ModuleOp, rng: random.Random, *, assemble: bool = False) -> None:
    """What has no hazards is compiled: the check is a pass of the compiler too."""
    if not _is_tile_ir(module):
        stages, passed = stages_of(CheckHazardsPass.name), list[object]()
        judged(lambda: passed.append(run_pipeline(module.clone(), "sm_90a", stages=stages)),
               tw.CompileError)  # fmt: skip
        if not passed:
            return
    arch = rng.choice(ARCHES)
    judged(lambda: tw.compile(module, arch, assemble=assemble), tw.CompileError, tw.TargetError)


def _run(module: ModuleOp, rng: random.Random) -> None:
    def run() -> None:
        args = [_argument(parameter, rng) for parameter in kernel_signature(module)]
        shape: dict[str, Any] = {} if _is_tile_ir(module) else {"block": (32,)}
        tw.interpret(module, grid=(1,), args=args, max_steps=STEPS, **shape)

    judged(run, tw.CompileError, tw.TargetError, tw.ExecutionError)


def _argument(parameter: Any, rng: random.Random) -> Any:
    if parameter.text == "u64" or parameter.element is not None:
        return np.zeros(1024, DTYPES.get(parameter.element, ("float32",))[0])
    return rng.choice((0, 1, 3, 16))


def _explained(module: ModuleOp, rng: random.Random) -> None:
    from tilewright.tools.tilewright import main

    if _is_tile_ir(module):
        path = file_of(text_of(module), ".mlir")
        command(main, ["explain-layouts", str(path), "--arch", rng.choice(ARCHES)])


def _written(module: ModuleOp, rng: random.Random) -> None:
    if _is_tile_ir(module):
        data: list[bytes] = []
        judged(lambda: data.append(write_bytecode(module)), OpError)
        for written in data:
            judged(lambda written=written: read_bytecode(written))


def _is_tile_ir(module: ModuleOp) -> bool:
    return any(isinstance(op, TileEntryOp) for op in module.walk())


WAYS: tuple[Callable[[ModuleOp, random.Random], None], ...] = (
    _read_back, _compiled, _run, _explained, _written,
)  # fmt: skip
