"""How many lines a second `tilewright check-ptx --batch` judges, one process on one core.

python benchmarks/check_ptx.py [--json]

The lines are all different: a product of shapes, element types and forms of sparsity, of which
few are legal, and every mnemonic of the lattice; with operands, each of these also with its
operands, right and with one register too many, under several names.
"""

import random
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

from measured import best_time, parser, show

from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES
from tilewright.tools.instructions.catalogue import listings, operand_forms

ARCH = "sm_120a"
ROUNDS = 3
COPIES = 20
COMMAND = str(Path(sysconfig.get_path("scripts")) / "tilewright")
SPARSITIES = ("", "sp.", "sp::ordered_metadata.")
ACCUMULATORS = ("f16", "f32", "f64", "s32")


def mnemonics() -> Iterator[str]:
    """Legal ones, and a product of mostly illegal ones."""
    yield from listings()
    shapes = product((8, 16), (4, 8, 16, 32, 64, 128, 256))
    for (m, k), a, b, d, sparsity in product(
        shapes, ELEMENT_TYPES, ELEMENT_TYPES, ACCUMULATORS, SPARSITIES
    ):
        yield f"mma.{sparsity}sync.aligned.m{m}n8k{k}.row.col.{d}.{a}.{b}.{d}"


def instructions() -> Iterator[str]:
    """Every mnemonic of the lattice with its operands, and with one register too many."""
    for mnemonic, number in product(listings(), range(COPIES)):
        spelled = [form.spelling for form in operand_forms(mnemonic)]
        named = [re.sub(r"\b([a-z])", rf"%r{number}\1", text) for text in spelled]
        for place in range(-1, len(spelled)):
            wrong = [
                text.replace("}", ",%r0}") if at == place else text for at, text in enumerate(named)
            ]
            yield f"{mnemonic} {', '.join(wrong)};"


def lines_a_second(lines: list[str], *options: str) -> float:
    """The best of ROUNDS processes, start and all."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as batch:
        batch.write("\n".join(lines))
        batch.flush()
        command = [COMMAND, "check-ptx", "--arch", ARCH, "--batch", batch.name, "--exit-zero"]
        run = partial(subprocess.run, [*command, *options], check=True, stdout=subprocess.DEVNULL)
        return len(lines) / best_time(ROUNDS, run)


def main() -> None:
    options = parser(__doc__).parse_args()
    results: dict[str, float] = {}
    for name, made in (("mnemonics", mnemonics()), ("with operands", instructions())):
        lines = sorted(set(made))
        random.Random(0).shuffle(lines)
        print(f"{len(lines)} {name}", file=sys.stderr)
        results[f"{name}, --brief"] = lines_a_second(lines, "--brief")
        results[f"{name}, with reasons"] = lines_a_second(lines)
    rates = (f"{name:34} {rate:9,.0f} lines a second" for name, rate in results.items())
    show(options, results, rates)


if __name__ == "__main__":
    main()
