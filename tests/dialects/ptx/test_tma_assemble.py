"""mbarriers, copies of boxes, warp specialisation and clusters assemble, and need what their rows
say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from ptx_kernels import (
    Kernel,
    Ptxas,
    complaints,
    directives,
    gpu_of,
    instructions,
    older_target,
    older_version,
    text_of,
    with_target,
    with_version,
)
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from tilewright.dialects.contents import ops_of
from tilewright.dialects.cute_nvgpu.lattice.cluster import (
    BULK_SEND,
    BULK_SEND_REDUCE,
    RED_ASYNC,
    ST_ASYNC,
)
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.mbarrier import MAX_ARRIVALS, MBARRIER_ASK, SETMAXNREG
from tilewright.dialects.cute_nvgpu.lattice.scalar import registers_of
from tilewright.dialects.cute_nvgpu.lattice.targets import alternatives, target
from tilewright.dialects.cute_nvgpu.lattice.tma import (
    BULK_REDUCE,
    MULTIMEM_REDUCE,
    TENSOR_LOADS,
    TENSOR_PREFETCHES,
    TENSOR_REDUCE,
    TENSOR_STORES,
)
from tilewright.dialects.ptx import bulk_copy, cluster, mbarrier, warp_specialization
from tilewright.dialects.ptx.control_flow import TENSORMAP, EntryOp
from tilewright.dialects.ptx.functions import RetOp
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.registers import ListMakeOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.ptx.text import module_text

SPACES = ("shared", "shared::cluster")


def mbarriers(kernel: Kernel) -> dict[str, list[PtxOp]]:
    """Every form of every instruction, by what the test is called."""
    address, parity = kernel.shared_address(64), kernel.input("b32")
    one, state = kernel.constant(1, "b32"), kernel.input("b64")

    def counted(form: str, at: int, count: Any = one, space: str = "shared") -> PtxOp:
        fields = {"form": f"{form}.{space}.b64", "address": address, "offset": at, "count": count}
        if "arrive" in form and space == "shared":
            return mbarrier.CountedArrivalOp(**fields, result=reg("b64"))
        return mbarrier.CountedOp(**fields)

    def asked(form: str) -> list[PtxOp]:
        return [
            mbarrier.AskOp(
                form=form, address=address, offset=8, phase=phase, time=time, result=reg("pred")
            )
            for phase in ((parity, one) if ".parity" in form else (state,))
            for time in ((None, one) if form.startswith("try") else (None,))
        ]

    return {
        "init": [mbarrier.InitOp(address, n, at) for at in (0, 8) for n in (1, MAX_ARRIVALS)],
        "inval": [mbarrier.InvalOp(address, -8)],
        "arrive": [mbarrier.ArriveOp(address, at) for at in (0, 16)],
        "arrive_count": [mbarrier.ArriveOp(address, 8, count=n) for n in (1, MAX_ARRIVALS)],
        "expect_tx": [mbarrier.ArriveExpectTxOp(address, n, 8) for n in (0, MAX_ARRIVALS)],
        "try_wait": [
            mbarrier.TryWaitParityOp(address, at, 8, time=time)
            for at in (parity, one)
            for time in (None, one)
        ],
        **{
            f"ask_{number}": asked(row.mnemonics[0].partition(".")[2])
            for number, row in enumerate(MBARRIER_ASK)
        },
        "arrive_state": [mbarrier.ArriveStateOp(address, 8, count=n) for n in (1, MAX_ARRIVALS)],
        "expect_tx_state": [mbarrier.ArriveExpectTxStateOp(address, 128, 8)],
        "cp_async_arrive": [mbarrier.CpAsyncArriveOp(address, at, noinc=True) for at in (0, 8)],
        "cp_async_arrive_more": [mbarrier.CpAsyncArriveOp(address, 8)],
        "register_count": [counted("init", at) for at in (0, 8)],
        "register_arrivals": [counted("arrive", 8)],
        "register_bytes": [counted("arrive.expect_tx", 8), counted("arrive_drop.expect_tx", 0)],
        "drop": [counted("arrive_drop", 8, None)],
        "no_complete": [counted(f"{name}.noComplete", 8) for name in ("arrive", "arrive_drop")],
        "bytes": [counted(f"{name}_tx.relaxed.cta", 8) for name in ("expect", "complete")],
        **{
            f"{order}_{name}": [
                counted(f"{name}.{order}.cluster", 8, space=space) for space in SPACES
            ]
            for order in ("relaxed", "release")
            for name in ("arrive", "arrive.expect_tx", "arrive_drop", "arrive_drop.expect_tx")
        },
        "far_bytes": [
            counted(f"{name}_tx.relaxed.{scope}", 8, space="shared::cluster")
            for name in ("expect", "complete")
            for scope in ("cta", "cluster")
        ],
        "pending_count": [mbarrier.PendingCountOp(state, result=reg("b32"))],
        "fence": [mbarrier.FenceMbarrierInitOp()],
    }


def boxes(kernel: Kernel) -> dict[str, list[PtxOp]]:
    address, map_, hint = kernel.shared_address(128), kernel.pointer, kernel.input("b64")
    coordinates = [kernel.input("b32"), kernel.constant(-7, "b32")] * 3
    ranks = [coordinates[:rank] for rank in range(1, 6)]
    mask = kernel.input("b16")
    few = [kernel.input("b16") for _ in range(3)]
    info = [kernel.add(ListMakeOp(few[:count], reg("b16", count))) for count in (2, 3)]

    def of_mode(mode: str) -> list[tuple[list[Any], Any]]:
        """Coordinates and offsets of a copy of a mode."""
        if "4" in mode:
            return [(ranks[4], None)]
        if mode == "tile":
            return [(each, None) for each in ranks]
        offsets = {"im2col": [few[0], *info], "im2col_no_offs": [None] * 3}.get(mode, info[:1] * 3)
        return [*zip(ranks[2:], offsets, strict=True)]

    return {
        "load": [
            bulk_copy.TensorLoadOp(address, map_, each, address, cache_hint=policy)
            for each in ranks
            for policy in (None, hint)
        ],
        "load_pair_multicast": [
            bulk_copy.TensorLoadOp(
                address, map_, each, address, mask=mask, pair=True, cache_hint=policy
            )
            for each in ranks
            for policy in (None, hint)
        ],
        "store": [
            bulk_copy.TensorStoreOp(map_, each, address, cache_hint=policy)
            for each in ranks
            for policy in (None, hint)
        ],
        "reduce": [
            bulk_copy.TensorReduceOp(map_, each, address, kind, cache_hint=policy)
            for kind in TENSOR_REDUCE
            for each in ranks
            for policy in (None, hint)
        ],
        **{
            f"load_{number}": [
                bulk_copy.TensorLoadOp(
                    address,
                    map_,
                    each,
                    address,
                    mode=mode,
                    offsets=info,
                    cache_hint=policy,
                    mask=mask if is_multicast else None,
                    pair=is_pair or None,
                    own=own or None,
                )
                for each, info in of_mode(mode)
                for policy in (None, hint)
            ]
            for number, (mode, is_multicast, is_pair, own) in enumerate(TENSOR_LOADS)
            # ptxas advises against multicast on other targets.
            if (mode != "tile" and not (is_multicast and mode == "im2col")) or own
        },
        **{
            f"prefetch_{number}": [
                bulk_copy.TensorPrefetchOp(map_, each, mode=mode, offsets=info, cache_hint=policy)
                for each, info in of_mode(mode)
                for policy in (None, hint)
            ]
            for number, mode in enumerate(TENSOR_PREFETCHES)
        },
        **{
            f"store_{number}": [
                bulk_copy.TensorStoreOp(map_, each, address, mode=mode, cache_hint=policy)
                for each, _ in of_mode(mode)
                for policy in (None, hint)
            ]
            for number, mode in enumerate(TENSOR_STORES)
        },
        **{
            f"reduce_{number}": [
                bulk_copy.TensorReduceOp(map_, each, address, kind, mode=mode)
                for kind in TENSOR_REDUCE
                for each, _ in of_mode(mode)
            ]
            for number, mode in enumerate(TENSOR_STORES)
            if mode != "tile"
        },
        "commit": [bulk_copy.BulkCommitGroupOp()],
        "wait": [bulk_copy.BulkWaitGroupOp(n, read=read) for n in (0, 7) for read in (True, False)],
        "prefetch": [bulk_copy.PrefetchTensormapOp(map_)],
    }


def runs(kernel: Kernel) -> dict[str, list[PtxOp]]:
    """Copies of bytes."""
    address, far, hint = kernel.shared_address(128), kernel.pointer, kernel.input("b64")
    sizes, mask = (kernel.input("b32"), kernel.constant(64, "b32")), kernel.input("b16")
    size_of_side = sizes[0]
    both = [(size, policy) for size in sizes for policy in (None, hint)]
    return {
        "load": [
            bulk_copy.BulkLoadOp(address, far, size, address, cache_hint=policy)
            for size, policy in both
        ],
        "load_multicast": [
            bulk_copy.BulkLoadOp(address, far, size, address, mask=mask, cache_hint=policy)
            for size, policy in both
        ],
        "store": [
            bulk_copy.BulkStoreOp(far, address, size, cache_hint=policy) for size, policy in both
        ],
        "load_ignoring": [
            bulk_copy.BulkLoadOp(
                address, far, size, address, left=left, right=size, cache_hint=policy
            )
            for left in (size_of_side, kernel.constant(15, "b32"))
            for size, policy in ((size_of_side, None), (size_of_side, hint))
        ],
        "masked_store": [
            bulk_copy.BulkStoreOp(far, address, size, mask=mask, cache_hint=policy)
            for size, policy in both
        ],
        "multimem": [bulk_copy.MultimemBulkStoreOp(far, address, size) for size in sizes],
        "masked_multimem": [
            bulk_copy.MultimemBulkStoreOp(far, address, size, mask=mask) for size in sizes
        ],
        "multimem_reduce": [
            bulk_copy.MultimemBulkReduceOp(far, address, size, form)
            for form in MULTIMEM_REDUCE
            for size in sizes
        ],
        "reduce": [
            bulk_copy.BulkReduceOp(far, address, size, form, cache_hint=policy)
            for form in BULK_REDUCE
            for size, policy in both
        ],
        **{
            f"replace_{field}": [
                bulk_copy.TensormapReplaceOp(at, form, place=place, value=value, number=number)
                for form, at in (
                    (f"tile.{field}.global.b1024.{bits}", far),
                    (f"tile.{field}.shared::cta.b1024.{bits}", address),
                )
            ]
            for field, bits, place, value, number in (
                ("global_address", "b64", None, hint, None),
                ("rank", "b32", None, sizes[1], None),
                ("box_dim", "b32", 0, sizes[0], None),
                ("global_dim", "b32", 4, sizes[1], None),
                ("element_stride", "b32", 1, sizes[0], None),
                ("global_stride", "b64", 3, hint, None),
                ("elemtype", "b32", None, None, 12),
                ("interleave_layout", "b32", None, None, 2),
                ("swizzle_mode", "b32", None, None, 3),
                ("fill_mode", "b32", None, None, 1),
            )
        },
        "cp_fenceproxy": [bulk_copy.CpFenceproxyOp(far, address, scope) for scope in SCOPES],
        "prefetch": [
            bulk_copy.BulkPrefetchOp(far, size, cache_hint=policy) for size, policy in both
        ],
    }


def warps(kernel: Kernel) -> dict[str, list[PtxOp]]:
    counts = range(SETMAXNREG.lowest, SETMAXNREG.highest + 1, SETMAXNREG.unit)
    return {
        "elect": [warp_specialization.ElectSyncOp()],
        "elect_lane": [warp_specialization.ElectLaneOp()],
        "elect_members": [warp_specialization.ElectMembersOp(kernel.input("b32"))],
        "setmaxnreg": [
            warp_specialization.SetmaxnregOp(action, count)
            for action in SETMAXNREG.actions
            for count in counts
        ],
    }


def clusters(kernel: Kernel) -> dict[str, list[PtxOp]]:
    address, rank = kernel.input("b32"), kernel.input("b32")
    ranks = (rank, kernel.constant(1, "b32"))

    def sent(op: Any, rows: Iterable[InstructionRow]) -> list[PtxOp]:
        made: list[PtxOp] = []
        for form in (name.partition(".")[2] for row in rows for name in row.mnemonics):
            kind, count = registers_of(form)
            parts = [kernel.input(kind) for _ in range(count)]
            value = parts[0] if count == 1 else kernel.add(ListMakeOp(parts, reg(kind, count)))
            made.append(op(address, value, rank, form))
        return made

    return {
        "st_async": sent(cluster.StAsyncOp, ST_ASYNC),
        "red_async": sent(cluster.RedAsyncOp, RED_ASYNC),
        "bulk_send": [
            cluster.BulkSendOp(address, address, size, rank, name.partition(".")[2])
            for size in ranks
            for row in (BULK_SEND, BULK_SEND_REDUCE)
            for name in row.mnemonics
        ],
        "rank": [cluster.RankOp()],
        **{
            name: [op(apart=apart) for apart in (True, False)]
            for name, op in (
                ("arrive", cluster.ArriveOp),
                ("arrive_relaxed", cluster.RelaxedArriveOp),
                ("wait", cluster.WaitOp),
            )
        },
        "getctarank": [cluster.GetctarankOp(address)],
        "mapa": [cluster.MapaOp(address, each) for each in ranks],
        "mbarrier_expect_tx": [
            cluster.MbarrierExpectTxOp(address, n, 8, reads=reads)
            for n in (0, MAX_ARRIVALS)
            for reads in (True, False)
        ],
        "mbarrier": [
            cluster.MbarrierArriveOp(address, at, count=count)
            for at in (0, 8)
            for count in (None, 1, MAX_ARRIVALS)
        ],
    }


GROUPS = (mbarriers, boxes, runs, warps, clusters)
CASES = [(group, name) for group in GROUPS for name in group(Kernel())]


@pytest.mark.parametrize("group, name", CASES)
def test_at_its_lowest_target_and_version(
    group: Callable[[Kernel], dict[str, list[PtxOp]]], name: str, ptxas: Ptxas
):
    kernel = Kernel(reqntid=(128, 1, 1))
    ops = group(kernel)[name]
    for op in ops:
        kernel.add(op)
    text = text_of(kernel)
    required = ops[0].requirement()
    lowest = alternatives(required.target)[0].name
    assert directives(text) == (lowest, max(required.version, (7, 0)))
    assert complaints(text, ptxas(text, gpu_of(lowest))) == {}
    lines = set().union(*(instructions(text, op.mnemonic) for op in ops))
    assert len(lines) >= 1
    older = with_version(text, older_version(required.version))
    # Of what it cannot parse ptxas names the first line alone.
    assert lines & set(complaints(older, ptxas(older, gpu_of(lowest))))
    below = older_target(lowest)
    lowered = with_target(text, below)
    assert lines <= set(complaints(lowered, ptxas(lowered, gpu_of(below))))


def test_every_op_is_here():
    kernel = Kernel()
    found = {type(op) for group in GROUPS for ops in group(kernel).values() for op in ops}
    any_target = {cluster.MapaLeaderOp}
    assert found | any_target == {*ops_of(mbarrier, bulk_copy, warp_specialization, cluster)}


@pytest.mark.parametrize("gpu", ["sm_90a", "sm_100a"])
def test_reductions_on_later_targets(gpu: str, ptxas: Ptxas):
    kernel = Kernel()
    for op in boxes(kernel)["reduce"]:
        kernel.add(op)
    text = with_target(text_of(kernel, arch=target(gpu)), gpu)
    text = with_version(text, max((8, 0), target(gpu).ptx_version))
    assert complaints(text, ptxas(text, gpu)) == {}
    spelled = {line.split()[0] for line in instructions(text, "cp.reduce.async.bulk.tensor")}
    assert len(spelled) == len(TENSOR_REDUCE) * 5 * 2


def test_a_cluster_of_the_kernel(ptxas: Ptxas):
    """`.reqnctapercluster` assembles, at sm_90 and PTX 7.8."""
    block = Block([RetOp()])
    module = ModuleOp([EntryOp("f", [], Region(block), cluster=(2, 1, 1))])
    module.verify()
    text = module_text(module)
    assert ".reqnctapercluster 2, 1, 1" in text
    assert directives(text) == ("sm_90", (7, 8))
    assert ptxas(text, "sm_90").clean
    older = with_version(text, (7, 7))
    assert not ptxas(older, "sm_90").ok


def test_tensor_maps_as_parameters(ptxas: Ptxas):
    """Their generic addresses assemble without a warning, the kernel's at sm_90 and PTX 8.0."""
    block = Block(arg_types=[reg("b64"), reg("b32"), reg("b64")])
    block.add_op(bulk_copy.PrefetchTensormapOp(block.args[0]))
    block.add_op(bulk_copy.PrefetchTensormapOp(block.args[2]))
    block.add_op(RetOp())
    parameters = [("a", TENSORMAP), ("n", "u32"), ("b", TENSORMAP)]
    module = ModuleOp([EntryOp("f", parameters, Region(block))])
    module.verify()
    text = module_text(module)
    assert ".param .align 64 .b8 f_b[128]" in text
    assert directives(text) == ("sm_90", (8, 0))
    assert ptxas(text, "sm_90").clean


def test_setmaxnreg_counts(ptxas: Ptxas):
    """ptxas obeys it, which it says with no C7508, where .minnctapersm stands beside .reqntid."""
    kernel = Kernel(reqntid=(384, 1, 1))
    kernel.add(warp_specialization.SetmaxnregOp("dec", 40))
    text = text_of(kernel)
    known = text.replace("384, 1, 1\n", "384, 1, 1\n.minnctapersm 1\n")
    assert "C7508" not in ptxas(known, "sm_90a").output
    assert "C7508" in ptxas(text, "sm_90a").output
