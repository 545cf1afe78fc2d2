"""Entry points of tilewright for mutants. Each takes a mutant and returns: legal or not, there must
be an answer, and never a traceback, a wrong exit status, an internal error or a hang."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import api_calls
import numpy as np
from answers import command, file_of, judged
from levels import (
    assembled,
    bytecode,
    checked_listing,
    every_way,
    listing,
    ptx,
    tile,
    tiles_and_atoms,
    triton,
)  # fmt: skip
from mutate import Followers, followers, mutant, mutant_bytes, tokens

import tilewright as tw

ROOT = Path(__file__).resolve().parents[2]
STEPS = 20_000
ARCHES = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a")


@cache
def chunks() -> tuple[str, ...]:
    """Every chunk of every `.mlir` file of the project, the shorter ones: they are read quickly."""
    files = sorted([*ROOT.glob("examples/**/*.mlir"), *ROOT.glob("tests/filecheck/**/*.mlir")])
    parts = [part for path in files for part in path.read_text().split("// -----")]
    return tuple(part for part in parts if part.strip() and len(part) < 8000)


@cache
def vocabulary() -> tuple[str, ...]:
    """The tokens of the corpus, once each."""
    return tuple(sorted({word for chunk in chunks() for word in tokens(chunk) if word.strip()}))


@cache
def _behind() -> Followers:
    return followers(chunks())


@cache
def _right() -> tuple[str, ...]:
    """The chunks of files that are not about errors."""
    wrong = {part for path in ROOT.glob("tests/filecheck/**/*_errors.mlir")
             for part in path.read_text().split("// -----")}  # fmt: skip
    return tuple(part for part in chunks() if part not in wrong)


@cache
def _kernels() -> tuple[str, ...]:
    """Of those the ones that may compile."""
    return tuple(part for part in _right() if "kernel" in part)


def ir(rng: random.Random) -> str:
    text = rng.choice(rng.choice((chunks(), _right(), _kernels())))
    return mutant(rng, text, vocabulary(), _behind())


def kernel(rng: random.Random) -> str:
    text = rng.choice(rng.choice((chunks(), _kernels(), _kernels(), _kernels())))
    return mutant(rng, text, vocabulary(), _behind())


# Entry points


def compile_(text: str, rng: random.Random, assemble: bool = False) -> None:
    """Also, on demand, what ptxas says of what compiles."""
    arch = rng.choice(ARCHES)
    judged(lambda: tw.compile(text, arch, assemble=assemble), tw.CompileError, tw.TargetError)


@cache
def _passes() -> tuple[str, ...]:
    from tilewright.universe import TILEWRIGHT_UNIVERSE

    return tuple(sorted(TILEWRIGHT_UNIVERSE.all_passes))


def opt(text: str, rng: random.Random) -> None:
    from tilewright.tools.tilewright_opt import main

    name = rng.choice(("", *_passes()))
    arch = f"{{arch={rng.choice(ARCHES)}}}"
    takes_arch = name in ("cute-nvgpu-check-target",) or name.startswith("convert-cute")
    pipeline = ["-p", name + (arch if takes_arch and rng.random() < 0.8 else "")] if name else []
    shown = rng.choice(([], [], ["-t", "ptx"], ["--print-op-generic"]))
    command(main, [str(file_of(text, ".mlir")), *pipeline, *shown])


def interpret(text: str, rng: random.Random) -> None:
    from tilewright.execution import kernel_signature

    def run() -> None:
        signature = kernel_signature(text)
        args = [_argument(parameter, rng) for parameter in signature]
        block = rng.choice(((32, 1, 1), (128, 1, 1), (1, 1, 1)))
        tw.interpret(
            text,
            grid=(1, 1, 1),
            block=block,
            args=args,
            max_steps=STEPS,
            level=rng.choice(("tile", "atom", "ptx")),
        )

    judged(run, tw.CompileError, tw.TargetError, tw.ExecutionError)


def _argument(parameter: Any, rng: random.Random) -> Any:
    shape = getattr(parameter, "shape", None)
    if rng.random() < 0.1:
        return rng.choice((None, "x", -1, 1 << 70, [1], np.zeros((3, 5))))
    if shape is None:
        return rng.choice((0, 1, 3, 16))
    extents = tuple(
        extent if isinstance(extent, int) and 0 <= extent < 4096 else 16 for extent in shape
    )
    return np.zeros(extents, getattr(parameter, "dtype", np.float32) or np.float32)


@cache
def mnemonics() -> tuple[str, ...]:
    """A legal mnemonic of every row of the lattice."""
    from tilewright.tools.tilewright import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(["atoms", "--json"])
    return tuple(row["mnemonics"][0] for row in json.loads(out.getvalue()) if row.get("mnemonics"))


def mnemonic(text: str, rng: random.Random) -> None:
    from tilewright.tools.tilewright import main

    judged(lambda: tw.atom(text), tw.AtomError, tw.TargetError)
    command(main, ["explain", text.lstrip("-") or "x"])
    words = ["--exit-zero", "--arch", rng.choice(ARCHES), text.lstrip("-") or "x"]
    command(main, ["check-ptx", *words])


LAYOUTS = (
    "((4,8),(2,2,2)):((32,1),(16,8,128))", "S<3,4,3> o 0 o (8,64):(64,1)", "(4,?{div=8}):(?,1)",
    "(2,3,4):(12,4,1)", "4:1", "((2,2),_):(1,2)", "(1@0,2@1)",
)  # fmt: skip


def layout(text: str, rng: random.Random) -> None:
    from tilewright.dialects.cute import Layout, LayoutParseError

    judged(lambda: Layout.parse(text), LayoutParseError, ValueError)
    quoted = json.dumps(text, ensure_ascii=False)
    compile_(f"builtin.module {{ %0 = cute.static : !cute.layout<{quoted}> }}", rng)


DESCRIPTORS = (
    "decode 0x4000004000010040 --type bf16 --shape 64x16 --major k",
    "decode 0x4000404000010040 --format tcgen05 --type bf16",
    "decode 0x08200490 --format idesc --kind f16",
    "encode S<3,3,3>@o@0@o@(64,16):(64,1) --type bf16 --address 0x400",
    "encode m=128,n=128,a_type=bf16,b_type=bf16 --format idesc --kind f16",
    "encode used=3,zeroed=1 --format zero-columns",
)
"""Arguments of `tilewright desc`; @ stands for a space within one."""


def descriptor(text: str, rng: random.Random) -> None:
    from tilewright.tools.tilewright import main

    command(main, ["desc", *(word.replace("@", " ") for word in text.split())])


@cache
def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(64, dtype=np.float32))
    return file.getvalue()


def array_file(rng: random.Random) -> bytes:
    """Bytes changed anywhere, or a header whose length is right."""
    data = _npy()
    if rng.random() < 0.5:
        return mutant_bytes(rng, data)
    begin, end = 10, 10 + int.from_bytes(data[8:10], "little")
    header = mutant(rng, data[begin:end].decode(), NPY_WORDS).encode(errors="surrogatepass")
    return data[:8] + (len(header) % (1 << 16)).to_bytes(2, "little") + header + data[end:]


NPY_WORDS = (
    "{", "}", "(", ")", "[", "]", ",", ":", "'descr'", "'<f4'", "'|O'", "'>f8'", "b'shape'",
    "'shape'", "'fortran_order'", "True", "False", "None", "(True,)", "(64,)", "(-1,)",
    "(1 << 40,)", "(4, 16)", "()", "99999999999999", "1e9", "[('a', '<f4')]", "'<V4'",
    "'<U3'", "'<M8[ns]'",
)  # fmt: skip
"""What headers are made of."""


def npy(data: bytes, rng: random.Random) -> None:
    from tilewright.tools.tilewright import main

    path, out = file_of(data, ".npy"), file_of(b"", ".out.npy")
    launch = ["--grid", "1,1,1", "--block", "64,1,1", "--quiet"]
    words = ["run", str(ROOT / "examples/axpy.mlir"), *launch]
    words += ["--", str(path), f"{out}=@{path}", "2.0", "64"]
    command(main, words[: rng.choice((9, 10, 11))])


@cache
def _instructions() -> tuple[str, ...]:
    """The instructions of the examples, with their operands."""
    texts = [tw.compile((ROOT / f"examples/{name}.mlir").read_text(), arch).ptx
             for name, arch in (("gemm_sm80", "sm_80"), ("gemm_sm90", "sm_90a"),
                                ("gemm_sm100", "sm_100a"), ("axpy", "sm_80"))]  # fmt: skip
    lines = (line.strip() for text in texts for line in text.splitlines())
    return tuple(sorted({line for line in lines if line.endswith(";") and line[0] != "."}))


def instruction(text: str, rng: random.Random) -> None:
    from tilewright.tools.tilewright import main

    words = ["--exit-zero", "--arch", rng.choice(ARCHES), text.lstrip("-") or "x"]
    command(main, ["check-ptx", *words])


def api(text: str, rng: random.Random) -> None:
    judged(lambda: api_calls.evaluated(text), *api_calls.answers(text))


def _of(texts: Callable[[], Sequence[str]]) -> Callable[[random.Random], str]:
    return lambda rng: mutant(rng, rng.choice(texts()), vocabulary())


ENTRIES: dict[str, tuple[Callable[[random.Random], Any], Callable[[Any, random.Random], None]]] = {
    "opt": (ir, opt),
    "compile": (kernel, compile_),
    "assemble": (kernel, partial(compile_, assemble=True)),
    "interpret": (kernel, interpret),
    "mnemonic": (_of(mnemonics), mnemonic),
    "layout": (_of(lambda: LAYOUTS), layout),
    "descriptor": (_of(lambda: DESCRIPTORS), descriptor),
    "npy": (array_file, npy),
    "bytecode": (bytecode, every_way),
    "tile": (tile, every_way),
    "ptx": (ptx, every_way),
    "kernel": (tiles_and_atoms, every_way),
    "triton": (triton, every_way),
    "listing": (listing, checked_listing),
    "assemble-tile": (tile, assembled),
    "assemble-ptx": (ptx, assembled),
    "instruction": (_of(_instructions), instruction),
    "api": (api_calls.call, api),
}
"""What makes the mutant of a random state, and what reads it."""

BINARY = ("npy", "bytecode")
"""Those whose mutants are bytes."""

ON_DEMAND = ("assemble", "assemble-tile", "assemble-ptx")
"""Those that take long: ptxas reads every kernel."""


def trial(entry: str, seed: int) -> None:
    """One mutant of an entry point. Raises Broken."""
    make, read = ENTRIES[entry]
    rng = random.Random(f"{entry} {seed}")
    mutated = make(rng)
    read(mutated, rng)
