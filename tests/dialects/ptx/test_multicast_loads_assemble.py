"""Copies of boxes to the CTAs of a cluster, or to pairs of them, assemble where their row says."""

from __future__ import annotations

import pytest
from ptx_kernels import (
    Kernel,
    Ptxas,
    complaints,
    instructions,
    older_version,
    text_of,
    with_target,
    with_version,
)
from xdsl.dialects.builtin import UnitAttr

from tilewright.dialects.cute_nvgpu.lattice.targets import alternatives, target
from tilewright.dialects.ptx import bulk_copy
from tilewright.dialects.ptx.instruction import PtxOp


def multicasts(kernel: Kernel) -> list[PtxOp]:
    address, map_, hint = kernel.shared_address(128), kernel.pointer, kernel.input("b64")
    coordinates = [kernel.input("b32"), kernel.constant(-7, "b32")] * 3
    masks = (kernel.input("b16"), kernel.constant(3, "b16"))
    return [
        bulk_copy.TensorLoadOp(
            address, map_, coordinates[:rank], address, cache_hint=policy, mask=mask
        )
        for rank in range(1, 6)
        for policy in (None, hint)
        for mask in masks
    ]


@pytest.mark.parametrize("gpu", ["sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_110f"])
def test_multicast_loads(gpu: str, ptxas: Ptxas):
    """They assemble where the row says, without the advice that ptxas gives for other targets."""
    kernel = Kernel()
    for op in (ops := multicasts(kernel)):
        kernel.add(op)
    text = text_of(kernel, arch=target(gpu))
    assert set(alternatives(ops[0].requirement().target)) == {
        target(name) for name in ("sm_90a", "sm_100f", "sm_110f")
    }
    assert complaints(text, ptxas(text, gpu)) == {}
    lines = instructions(text, "cp.async.bulk.tensor")
    assert len(lines) == len(ops) and all(".multicast::cluster" in line for line in lines)
    plain = with_target(text, "sm_90")
    assert lines == set(complaints(plain, ptxas(plain, "sm_90")))
    older = with_version(text, older_version(ops[0].requirement().version))
    assert not ptxas(older, gpu).ok


@pytest.mark.parametrize("gpu", ["sm_100a", "sm_100f", "sm_103a", "sm_110a"])
def test_loads_of_pairs(gpu: str, ptxas: Ptxas):
    """They assemble where the row says, and nowhere below."""
    kernel = Kernel()
    address, map_, hint = kernel.shared_address(128), kernel.pointer, kernel.input("b64")
    ops = [
        bulk_copy.TensorLoadOp(
            address, map_, [kernel.input("b32")] * rank, address, cache_hint=policy, pair=UnitAttr()
        )
        for rank in range(1, 6)
        for policy in (None, hint)
    ]
    for op in ops:
        kernel.add(op)
    text = text_of(kernel, arch=target(gpu))
    assert complaints(text, ptxas(text, gpu)) == {}
    lines = instructions(text, "cp.async.bulk.tensor")
    assert len(lines) == len(ops) and all(".cta_group::2" in line for line in lines)
    below = with_target(text, "sm_90a")
    assert lines <= set(complaints(below, ptxas(below, "sm_90a")))
    assert not ptxas(with_version(text, older_version(ops[0].requirement().version)), gpu).ok
