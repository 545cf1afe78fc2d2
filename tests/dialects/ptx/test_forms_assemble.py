"""Every form of every scalar instruction assembles, with registers and with immediates, on the
target and at the PTX version that its row says, and not below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from ptx_kernels import (
    Kernel,
    Ptxas,
    complaints,
    directives,
    gpu_of,
    older_target,
    older_version,
    text_of,
    with_target,
    with_version,
)
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, alternatives
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.instruction import BASELINE, REGISTER_OF, Form, Requirement, ScalarOp
from tilewright.dialects.ptx.types import KINDS
from tilewright.launch.ptxas import PtxasReport
from tilewright.lowering.ptx.instructions import shape_of

SCALAR_OPS = [op for op in PTX.operations if issubclass(op, ScalarOp)]

FLOATS = {
    "f32": (0x3FC00000, 0x7FC00000, -0x00800000, 0),  # 1.5, NaN, -infinity, 0
    "f64": (0x3FF8 << 48, 0x7FF8 << 48, -(0x10 << 48), 0),
}


def constants(type_: str, form: OperandForm) -> Sequence[int]:
    """Values that an immediate of the type may go wrong on, and the operand may have."""
    width = KINDS[REGISTER_OF[type_]]
    top = 1 << (width - 1)
    values = FLOATS.get(type_, (1, 7, -1, -top, top - 1))
    return [value for value in values if form.takes(value % (1 << width))]


def use(kernel: Kernel, op_type: type[ScalarOp], row: Form) -> str:
    """Add one op of the form for each choice of registers and immediates; its mnemonic."""
    registers = [kernel.input(REGISTER_OF[type_]) for type_ in row.types]
    op = op_type(row.suffix, registers)
    kernel.output(kernel.add(op))
    open_ = [i for i, taken in enumerate(shape_of(op).immediates) if taken]
    for chosen in (*([i] for i in open_), open_):
        for values in _choices(kernel, row, op.operand_forms[1:], chosen):
            inputs = [values.get(i, register) for i, register in enumerate(registers)]
            kernel.output(kernel.add(op_type(row.suffix, inputs)))
    return op.mnemonic


def _choices(
    kernel: Kernel, row: Form, forms: Sequence[OperandForm], chosen: list[int]
) -> Iterator[dict[int, SSAValue]]:
    given = {i: constants(row.types[i], forms[i]) for i in chosen}
    for turn in range(max(map(len, given.values()), default=0)):
        yield {
            i: kernel.constant(values[turn % len(values)], REGISTER_OF[row.types[i]])
            for i, values in given.items()
        }


def requirements() -> set[Requirement]:
    return {row.requirement for op in SCALAR_OPS for row in op.ROW.forms.values()}


def name(requirement: Requirement) -> str:
    return f"{requirement.target} {requirement.version}"


@pytest.mark.parametrize("requirement", sorted(requirements(), key=str), ids=name)
def test_every_form_assembles(requirement: Requirement, ptxas: Ptxas):
    """A kernel for each op that has forms of that requirement."""
    for target in alternatives(requirement.target):
        kernels: list[Kernel] = []
        mnemonics: list[str] = []
        for op_type in SCALAR_OPS:
            rows = [row for row in op_type.ROW.forms.values() if row.requirement == requirement]
            if rows:
                kernels.append(Kernel(op_type.name.replace(".", "_")))
                mnemonics += [use(kernels[-1], op_type, row) for row in rows]
        text = text_of(*kernels, arch=target)
        missing = [each for each in mnemonics if f"\t{each} " not in text]
        assert not missing
        version = max(requirement.version, target.ptx_version)
        assert directives(text) == (target.name, version)
        assert complaints(text, ptxas(text, gpu_of(target.name))) == {}


def test_no_form_needs_less_than_its_row_says(ptxas: Ptxas):
    """Below the row's target or version, ptxas refuses each form above the baseline."""
    above = [(op, row) for op in SCALAR_OPS for row in op.ROW.forms.values()]
    for requirement in requirements() - {BASELINE}:
        for target in alternatives(requirement.target):
            kernel = Kernel()
            forms = [(op, row) for op, row in above if row.requirement == requirement]
            for op, row in forms:
                inputs = [kernel.input(REGISTER_OF[type_]) for type_ in row.types]
                kernel.output(kernel.add(op(row.suffix, inputs)))
            text, version = text_of(kernel, arch=target), requirement.version
            lines = [f"{op.name.removeprefix('ptx.')}.{row.suffix}" for op, row in forms]
            if target != BASELINE.target:
                older = older_target(target.name)
                refused(text, ptxas(with_target(text, older), gpu_of(older)), lines)
            earlier = with_version(text, older_version(version))
            refused(text, ptxas(earlier, gpu_of(target.name)), lines)


def refused(text: str, report: PtxasReport, lines: Sequence[str]) -> None:
    """ptxas complains of each of those lines."""
    at = {place.split(" ")[0] for place in complaints(text, report)}
    assert set(lines) <= at, set(lines) - at


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "sm_120a"])
def test_every_form_assembles_on_later_chips(arch: str, ptxas: Ptxas):
    kernel = Kernel()
    for op_type in SCALAR_OPS:
        for row in op_type.ROW.forms.values():
            if not TARGETS[arch].supports(row.requirement.target):
                continue
            inputs = [kernel.input(REGISTER_OF[type_]) for type_ in row.types]
            kernel.output(kernel.add(op_type(row.suffix, inputs)))
    text = text_of(kernel, arch=TARGETS[arch])
    assert complaints(text, ptxas(text, arch)) == {}


def test_rows_agree_with_their_keys():
    for op in SCALAR_OPS:
        for suffix, row in op.ROW.forms.items():
            assert row.suffix == suffix
            assert {*row.types, row.result} <= set(REGISTER_OF)
