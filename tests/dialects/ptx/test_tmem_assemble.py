"""Every form of the instructions of tensor memory assembles, and needs what its row says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from ptx_kernels import (
    Kernel,
    Ptxas,
    complaints,
    directives,
    instructions,
    text_of,
    together,
    with_target,
    with_version,
)
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.contents import ops_of
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import TmemAccess
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.lattice.tmem import ALLOCATIONS, CTA_GROUPS
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import (
    TMEM_COPY,
    TMEM_COPY_SHAPES,
    TMEM_SHAPES,
)
from tilewright.dialects.ptx import tcgen05_access as access
from tilewright.dialects.ptx import tcgen05_memory as memory
from tilewright.dialects.ptx import tcgen05_sync as sync
from tilewright.dialects.ptx.instruction import PtxOp, Requirement
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.ptx.text import module_text

TARGETS = ("sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f")


def accesses() -> Iterator[TmemAccess]:
    for shape in TMEM_SHAPES.values():
        for number in shape.numbers:
            for packed in (False, True):
                half = number * (2 if packed else 1) if shape.halves else 0
                yield TmemAccess(shape, number, packed, half)


def fields(access: TmemAccess, offset: int) -> dict[str, Any]:
    """Those of an access, by name."""
    half = access.half if access.shape.halves else None
    return {"shape": access.shape.name, "half": half, "offset": offset}


def allocation(kernel: Kernel, group: int) -> list[PtxOp]:
    slot, address = kernel.shared_address(16), kernel.input("b32")
    return [
        *(memory.AllocOp(slot, 8, columns, group) for columns in ALLOCATIONS),
        *(memory.DeallocOp(address, columns, group) for columns in ALLOCATIONS),
        memory.RelinquishAllocPermitOp(group),
    ]


def loads(kernel: Kernel, group: int) -> list[PtxOp]:
    address = kernel.input("b32")
    return [
        access.LdOp(address, reg(kind, each.registers), packed=each.packed, **fields(each, offset))
        for each in accesses()
        for kind, offset in (("b32", 0), ("f32", 32))
    ]


def stores(kernel: Kernel, group: int) -> list[PtxOp]:
    address = kernel.input("b32")
    values = {count: kernel.input("b32", count) for count in (1, 2, 4, 8, 16, 32, 64, 128)}
    return [
        access.StOp(address, values[each.registers], packed=each.packed, **fields(each, 4))
        for each in accesses()
    ]


def reductions(kernel: Kernel, group: int) -> list[PtxOp]:
    address = kernel.input("b32")
    return [
        access.LdRedOp(address, reg("b32", each.registers), reg("b32"), form, **fields(each, 0))
        for each in accesses()
        if each.shape.reduces and each.number > 1 and not each.packed
        for form in access.REDUCE_FORMS
    ]


def copies(kernel: Kernel, group: int) -> list[PtxOp]:
    address, descriptor = kernel.input("b32"), kernel.input("b64")
    return [
        memory.CpOp(address, descriptor, shape.spelled, 4, group, source_format=source)
        for shape in TMEM_COPY_SHAPES.values()
        for source in (None, *TMEM_COPY.formats)
    ]


def shifts(kernel: Kernel, group: int) -> list[PtxOp]:
    return [memory.ShiftOp(kernel.input("b32"), 8, group)]


def synchronization(kernel: Kernel, group: int) -> list[PtxOp]:
    barrier, mask = kernel.shared_address(64), kernel.input("b16")
    return [
        sync.WaitLdOp(),
        sync.WaitStOp(),
        sync.FenceBeforeThreadSyncOp(),
        sync.FenceAfterThreadSyncOp(),
        sync.CommitOp(barrier, 8, group),
        sync.CommitOp(barrier, 8, group, mask=mask),
    ]


Group = Callable[[Kernel, int], list[PtxOp]]
GROUPS: tuple[Group, ...] = (
    allocation,
    loads,
    stores,
    reductions,
    copies,
    shifts,
    synchronization,
)
OF_A_CTA_GROUP = {allocation, copies, shifts, synchronization}


def kernel_of(group: Group, cta_group: int) -> tuple[Kernel, list[PtxOp]]:
    kernel = Kernel(f"{group.__name__}_{cta_group}")
    ops = group(kernel, cta_group)
    for op in ops:
        kernel.add(op)
    return kernel, ops


def test_on_every_target(ptxas: Ptxas):
    """Where the row says it runs, it assembles; elsewhere ptxas refuses each of the lines."""
    texts: dict[Requirement, list[str]] = {}
    lines: dict[Requirement, set[str]] = {}
    for group in GROUPS:
        for size in CTA_GROUPS if group in OF_A_CTA_GROUP else (1,):
            kernel, ops = kernel_of(group, size)
            text, required = text_of(kernel), ops[0].requirement()
            own = set().union(*(instructions(text, op.mnemonic) for op in ops))
            assert len(own) >= len(ops)
            texts.setdefault(required, []).append(text)
            lines.setdefault(required, set()).update(own)
    for required, name in product(texts, TARGETS):
        version = max(required.version, target(name).ptx_version)
        spelled = with_target(with_version(together(texts[required]), version), name)
        found = complaints(spelled, ptxas(spelled, name))
        if target(name).supports(required.target):
            assert found == {}, name
        else:
            assert lines[required] <= set(found), name


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_lowest_target_and_version(group: Group, ptxas: Ptxas):
    kernel, ops = kernel_of(group, 1)
    text = text_of(kernel)
    name, version = directives(text)
    lowest = ("sm_103a", (8, 8)) if group is reductions else ("sm_100a", (8, 6))
    assert (name, version) == lowest
    assert complaints(text, ptxas(text, name)) == {}
    lowered = with_target(text, "sm_90a")
    lines = set().union(*(instructions(text, op.mnemonic) for op in ops))
    assert lines <= set(complaints(lowered, ptxas(lowered, "sm_90a")))


def test_for_a_target(ptxas: Ptxas):
    """With an arch, the text is for the lowest target whose code that arch runs."""
    kernel, _ = kernel_of(loads, 1)
    text_of(kernel)
    module = kernel.block.parent_op()
    assert module is not None
    top = module.parent_op()
    assert isinstance(top, ModuleOp)
    found = {name: directives(module_text(top, target(name))) for name in TARGETS}
    assert found == {
        "sm_100a": ("sm_100a", (8, 6)),
        "sm_100f": ("sm_100f", (8, 8)),
        "sm_103a": ("sm_100f", (8, 8)),
        "sm_103f": ("sm_100f", (8, 8)),
        "sm_110a": ("sm_110a", (9, 0)),
        "sm_110f": ("sm_110f", (9, 0)),
    }


def test_every_op_is_here():
    found = {type(op) for group in GROUPS for op in group(Kernel(), 1)}
    assert found == {*ops_of(memory, access, sync)}


def test_ptxas_takes_one_cta_group_in_a_kernel(ptxas: Ptxas):
    """Why an op with another one does not verify."""
    kernel, _ = kernel_of(allocation, 1)
    text = text_of(kernel)
    mixed = text.replace(
        "relinquish_alloc_permit.cta_group::1", "relinquish_alloc_permit.cta_group::2"
    )
    assert mixed != text
    assert not ptxas(mixed, "sm_100a").ok
