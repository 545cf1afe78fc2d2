"""A `wgmma.mma_async` explained: what each thread holds, and how matrices lie in shared memory,
line by line."""

import re
from collections.abc import Iterator, Sequence

from tilewright.dialects.cute import Swizzle
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    MAJOR_MODES,
    ROWS,
    SWIZZLE_MODES,
    MajorMode,
)
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.tools.instructions.mma_explained import fragments, sparsity
from tilewright.tools.render_table import LABEL, line, table

_LONGEST = 8
"""Registers of a vector that are all named."""


def explain(
    atom: WgmmaAtom, descriptors: Sequence[OperandForm], registers: Sequence[OperandForm]
) -> Iterator[str]:
    """Everything about an atom but where it is available; the operands with A in shared memory, and
    with A in registers."""
    yield line("computes", _computes(atom))
    yield line(
        "threads", "a warpgroup: four warps from a multiple of four on, with equal descriptors"
    )
    yield line("completes", "later: wgmma.commit_group, then wgmma.wait_group, before d is read")
    yield line("operands", ", ".join(map(_short, descriptors)))
    yield line("or", ", ".join(map(_short, registers)))
    yield from _immediates(atom)
    yield line("atom", f"cute_nvgpu.{atom.op}<{atom.parameters}>")
    yield line("op", op_spelling(atom))
    shown = ("A", "D", "E") if atom.row.sparse else ("A", "D")
    yield from fragments(atom, shown)
    if atom.row.sparse:
        yield from sparsity(atom, atom.chunk, ordered=False)
    yield from _shared_memory(atom)


def _computes(atom: WgmmaAtom) -> str:
    m, n, k = atom.shape
    sizes = f"A is {m} x {k}, B {k} x {n}, D {m} x {n}"
    product = f"the number of ones in A {atom.row.bit_op} B" if atom.row.bit_op else "A * B"
    return f"D = {product} + D, or D = {product} where scale-d is false: {sizes}"


def _short(form: OperandForm) -> str:
    """Its name, or its registers, of many the first and the last."""
    if "{" not in form.spelling:
        return form.name
    names = re.findall(r"\w+", form.spelling)
    return form.spelling if len(names) <= _LONGEST else f"{{{names[0]},...,{names[-1]}}}"


def _immediates(atom: WgmmaAtom) -> Iterator[str]:
    yield line("scale-d", "a predicate, or the constant 0 or 1")
    if atom.row.negates:
        yield line("scales", "imm-scale-a, imm-scale-b: 1, or -1 to negate the elements of A, of B")
    if atom.row.transposes:
        turned = "imm-trans-a (only with a-desc), imm-trans-b"
        yield line("trans", f"{turned}: 0 for a K-major matrix, 1 for an MN-major one")


def op_spelling(atom: WgmmaAtom) -> str:
    """The op that issues it as IR spells it, without its types; `scale_d` and the negations may be
    left out."""
    metadata = ", %e[0]" if atom.row.sparse else ""
    negated = " negate_a negate_b" if atom.row.negates else ""
    inputs = f"%a, %b, %c{metadata} scale_d %p{negated}"
    return f"%d = cute_nvgpu.{atom.op} {inputs} <{atom.parameters}>"


def _shared_memory(atom: WgmmaAtom) -> Iterator[str]:
    element = atom.element("B")
    n, k = atom.extents("B")
    yield line(
        "B", f"{n} x {k} of {element.name} in shared memory, as A may be: one of the layouts"
    )
    yield line("", "(mn, k) -> element from its start; m and k say how often its atom repeats")
    majors = MAJOR_MODES if atom.row.transposes else MAJOR_MODES[:1]
    rows = [
        (
            f"{major.upper()}-major",
            f"{swizzle} bytes" if swizzle else "no swizzle",
            canonical_layout(element, major, swizzle),
        )
        for major in majors
        for swizzle in sorted(SWIZZLE_MODES)
    ]
    yield from table(rows, indent=" " * (LABEL + 2))
    yield line("", "LBO, SBO in elements; 'tilewright desc' builds and reads descriptors")
    if atom.row.sparse:
        yield line("", "at 32 bytes LBO is what lies between the halves of B's K (on an H100)")


def canonical_layout(element: ElementType, major: MajorMode, swizzle: int) -> str:
    """One of the canonical layouts `(mn, k) -> offset` in elements, with the m and k, the LBO and
    the SBO that are the matrix's own. PTX ISA 9.7.15.5.1.2.1.3."""
    chunk = 8 * CHUNK // element.bits
    wide = swizzle // CHUNK or 1
    if major == "k":
        layout = (
            f"(({ROWS},m),({chunk},2k)):(({chunk * wide},SBO),(1,{chunk if swizzle else 'LBO'}))"
        )
    else:
        first, second = ("LBO", "SBO") if swizzle else ("SBO", "LBO")
        groups = f"(({chunk},{wide},m),({ROWS},k))"
        layout = f"{groups}:((1,{chunk},{first}),({chunk * wide},{second}))"
    if not swizzle:
        return layout
    base = (chunk - 1).bit_length()
    return f"{Swizzle(wide.bit_length() - 1, base, 3)} o 0 o {layout}"
