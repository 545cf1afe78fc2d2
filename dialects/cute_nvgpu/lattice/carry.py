"""Sums of several words, whose carries go on in the condition code. PTX ISA 9.7.2."""

from itertools import product, starmap

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Result, Scalar
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE


def _row(type_: str, products: bool) -> InstructionRow:
    if products:
        stems = [
            *(f"mad.{half}.cc" for half in ("lo", "hi")),
            *(f"madc.{half}{out}" for half, out in product(("lo", "hi"), ("", ".cc"))),
        ]
    else:
        stems = [f"{name}{way}" for name in ("add", "sub") for way in (".cc", "c", "c.cc")]
    sources = tuple(Scalar(name, type_) for name in ("abc" if products else "ab"))
    return InstructionRow(
        "ptx.carry",
        "d = a + b, a - b or a * b + c, with the carry of the one before, or for the next",
        tuple(f"{stem}.{type_}" for stem in stems), BASELINE, "9.7.2",
        (Result("d", REGISTER_OF[type_]), *sources),
    )  # fmt: skip


CARRY = tuple(starmap(_row, product(("u32", "s32", "u64", "s64"), (False, True))))
CARRIES: dict[str, InstructionRow] = {mnemonic: row for row in CARRY for mnemonic in row.mnemonics}
"""The row of each mnemonic."""
