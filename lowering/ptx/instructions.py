"""How each instruction is written: a function from an op to its line of PTX."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ptx import (
    bulk_copy,
    matrix,
    matrix_copy,
    mbarrier,
    registers,
    shuffle,
    synchronization,
    warp_specialization,
    wgmma,
    wmma,
)
from tilewright.dialects.ptx import data_movement as data
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.ptx.immediates import immediate
from tilewright.lowering.ptx.registers import needs_register

if TYPE_CHECKING:
    from tilewright.lowering.ptx.text import KernelText

Emitter = Callable[[Any, "KernelText"], None]
EMITTERS: dict[type[Operation], Emitter] = {}


def emits(*op_types: type[Operation]) -> Callable[[Emitter], Emitter]:
    """Register a function as what writes these op types."""

    def register(emitter: Emitter) -> Emitter:
        for op_type in op_types:
            EMITTERS[op_type] = emitter
        return emitter

    return register


def bracketed(base: str, offset: int) -> str:
    """`[%r1+16]`."""
    return f"[{base}+{offset}]" if offset else f"[{base}]"


def emit_scalar(op: Any, out: KernelText) -> None:
    operands = [out.operand(op, i, type_) for i, type_ in enumerate(op.row.types)]
    out.line(f"{op.mnemonic} {', '.join([out.register(op.results[0]), *operands])};", op)


@emits(registers.ConstOp)
def _const(op: registers.ConstOp, out: KernelText) -> None:
    if needs_register(op):
        kind = op.result.type.kind.data
        out.line(f"mov.{kind} {out.register(op.result)}, {immediate(op, kind)};", op)


@emits(registers.UndefOp, registers.ListMakeOp, registers.ListGetOp)
def _nothing(op: Operation, out: KernelText) -> None:
    """Names alone."""


@emits(registers.SregOp)
def _sreg(op: registers.SregOp, out: KernelText) -> None:
    out.line(f"mov.u32 {out.register(op.result)}, %{op.register.data};", op)


@emits(registers.SharedAddressOp)
def _shared_address(op: registers.SharedAddressOp, out: KernelText) -> None:
    offset = op.offset.value.data
    symbol = out.shared_name + (f"+{offset}" if offset else "")
    out.line(f"mov.u32 {out.register(op.result)}, {symbol};", op)


@emits(registers.MovOp)
def _mov(op: registers.MovOp, out: KernelText) -> None:
    kind = op.result.type.kind.data
    type_ = kind if kind == "pred" else f"b{KINDS[kind]}"
    out.line(f"mov.{type_} {out.register(op.result)}, {out.register(op.source)};", op)


@emits(registers.PackOp)
def _pack(op: registers.PackOp, out: KernelText) -> None:
    low, high = out.register(op.low), out.register(op.high)
    kind = op.result.type.kind.data
    out.line(f"mov.{kind} {out.register(op.result)}, {{{low}, {high}}};", op)


@emits(registers.UnpackOp)
def _unpack(op: registers.UnpackOp, out: KernelText) -> None:
    out.line(f"mov.b32 {out.group(op.halves)}, {out.register(op.source)};", op)


@emits(data.LdOp)
def _ld(op: data.LdOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    out.line(f"{op.mnemonic} {out.group(op.result)}, {address};", op)


@emits(data.StOp)
def _st(op: data.StOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    guard = "" if op.predicate is None else f"@{out.register(op.predicate)} "
    out.line(f"{guard}{op.mnemonic} {address}, {out.group(op.value)};", op)


@emits(data.CpAsyncOp)
def _cp_async(op: data.CpAsyncOp, out: KernelText) -> None:
    mnemonic = data.CP_ASYNC.mnemonic(op.cache.data)
    parts = [f"[{out.register(op.dest)}]", f"[{out.register(op.source)}]"]
    parts.append(str(op.size.value.data))
    if op.source_size is not None:
        parts.append(out.operand(op, 2, "u32"))
    out.line(f"{mnemonic} {', '.join(parts)};", op)


@emits(data.CpAsyncCommitGroupOp)
def _commit(op: data.CpAsyncCommitGroupOp, out: KernelText) -> None:
    out.line("cp.async.commit_group;", op)


@emits(data.CpAsyncWaitGroupOp)
def _wait(op: data.CpAsyncWaitGroupOp, out: KernelText) -> None:
    out.line(f"cp.async.wait_group {op.pending.value.data};", op)


@emits(synchronization.BarSyncOp, synchronization.BarArriveOp)
def _barrier(op: synchronization.BarSyncOp, out: KernelText) -> None:
    threads = "" if op.threads is None else f", {op.threads.value.data}"
    out.line(f"{op.mnemonic} {op.barrier.value.data}{threads};", op)


@emits(synchronization.WarpSyncOp)
def _warp_sync(op: synchronization.WarpSyncOp, out: KernelText) -> None:
    out.line("bar.warp.sync 0xffffffff;", op)


@emits(shuffle.ShflSyncOp)
def _shfl_sync(op: shuffle.ShflSyncOp, out: KernelText) -> None:
    result, value = out.register(op.result), out.register(op.value)
    out.line(f"{op.mnemonic} {result}, {value}, {op.lane.value.data}, 31, 0xffffffff;", op)


def braced(names: list[str]) -> str:
    """`{%r1, %r2}`."""
    return "{" + ", ".join(names) + "}"


@emits(matrix.MmaOp, wmma.MmaOp)
def _mma(op: matrix.WarpMmaOp, out: KernelText) -> None:
    matrices = (op.d, *op.inputs[:3])
    operands = [braced(out.registers.names(each)) for each in matrices]
    more, selectors = [out.register(each) for each in op.inputs[3:]], list(op.selectors)
    if op.mma_atom.row.sparsity is not None:
        operands += [more.pop(0), str(selectors.pop(0))]
    for i, scale in enumerate(more):
        operands += [scale, braced([str(each) for each in selectors[2 * i : 2 * i + 2]])]
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(matrix_copy.LdmatrixOp)
def _ldmatrix(op: matrix_copy.LdmatrixOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    out.line(f"{op.mnemonic} {braced(out.registers.names(op.result))}, {address};", op)


@emits(matrix_copy.StmatrixOp)
def _stmatrix(op: matrix_copy.StmatrixOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    out.line(f"{op.mnemonic} {address}, {braced(out.registers.names(op.value))};", op)


@emits(matrix_copy.MovmatrixOp)
def _movmatrix(op: matrix_copy.MovmatrixOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {out.register(op.d)}, {out.register(op.a)};", op)


@emits(wmma.LoadOp)
def _wmma_load(op: wmma.LoadOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    fragment = braced(out.registers.names(op.result))
    out.line(f"{op.mnemonic} {fragment}, {address}, {out.operand(op, 1, 's32')};", op)


@emits(wmma.StoreOp)
def _wmma_store(op: wmma.StoreOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    fragment = braced(out.registers.names(op.value))
    out.line(f"{op.mnemonic} {address}, {fragment}, {out.operand(op, 2, 's32')};", op)


@emits(wgmma.WgmmaOp)
def _wgmma(op: wgmma.WgmmaOp, out: KernelText) -> None:
    registers_in_a = op.mma_atom.frag_kind == "rs"
    a = braced(out.registers.names(op.a)) if registers_in_a else out.register(op.a)
    operands = [braced(out.registers.names(op.d)), a, out.register(op.b)]
    if op.metadata is not None and op.selector is not None:
        operands += [out.register(op.metadata), str(op.selector.value.data)]
    if op.scale_d is not None:
        operands.append(out.register(op.scale_d))
    else:
        operands.append("1" if op.zero is None else "0")
    if op.immediates is not None:
        operands += map(str, op.immediates.get_values())
    _settle(op, out)
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


def _settle(op: wgmma.WgmmaOp, out: KernelText) -> None:
    """Copy c where it is needed later and so could not have the registers of d."""
    into, source = out.registers.names(op.d), out.registers.names(op.c)
    if into == source or op.zero is not None:
        return
    kind = op.d.type.kind.data
    for d, c in zip(into, source, strict=True):
        out.line(f"mov.{kind} {d}, {c};", op)
    out.line("wgmma.fence.sync.aligned;")


@emits(
    wgmma.WgmmaFenceOp,
    wgmma.WgmmaCommitGroupOp,
    wgmma.FenceProxyAsyncOp,
    mbarrier.FenceMbarrierInitOp,
    bulk_copy.BulkCommitGroupOp,
)
def _plain(op: PtxOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic};", op)


@emits(wgmma.WgmmaWaitGroupOp, bulk_copy.BulkWaitGroupOp)
def _wait_group(op: wgmma.WgmmaWaitGroupOp | bulk_copy.BulkWaitGroupOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {op.pending.value.data};", op)


# mbarriers


def _at(op: mbarrier.MbarrierOp, out: KernelText) -> str:
    return bracketed(out.register(op.address), op.offset.value.data)


@emits(mbarrier.InitOp)
def _mbarrier_init(op: mbarrier.InitOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {_at(op, out)}, {op.count.value.data};", op)


@emits(mbarrier.InvalOp)
def _mbarrier_inval(op: mbarrier.InvalOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {_at(op, out)};", op)


@emits(mbarrier.ArriveOp, mbarrier.ArriveExpectTxOp)
def _mbarrier_arrive(op: mbarrier.ArriveOp | mbarrier.ArriveExpectTxOp, out: KernelText) -> None:
    count = "" if op.count is None else f", {op.count.value.data}"
    out.line(f"{op.mnemonic} _, {_at(op, out)}{count};", op)


@emits(mbarrier.TryWaitParityOp)
def _mbarrier_wait(op: mbarrier.TryWaitParityOp, out: KernelText) -> None:
    """The instruction waits for a while only: ask again until the phase is complete."""
    done, parity = "done", out.operand(op, 1, "u32")
    out.line(f"{{ .reg .pred {done};", op)
    out.line("again:")
    out.line(f"{op.mnemonic} {done}, {_at(op, out)}, {parity};")
    out.line(f"@!{done} bra again; }}")


# Boxes


def _box(op: bulk_copy.TensorCopyOp, map_: SSAValue, out: KernelText) -> str:
    first = op.FIRST_COORDINATE
    places = range(first, first + len(op.box_coordinates))
    coordinates = braced([out.operand(op, place, "s32") for place in places])
    return f"[{out.register(map_)}, {coordinates}]"


@emits(bulk_copy.TensorLoadOp)
def _tensor_load(op: bulk_copy.TensorLoadOp, out: KernelText) -> None:
    operands = [f"[{out.register(op.dest)}]", _box(op, op.map, out)]
    operands.append(f"[{out.register(op.barrier)}]")
    operands += [out.register(each) for each in (op.mask, op.cache_hint) if each is not None]
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(bulk_copy.TensorStoreOp, bulk_copy.TensorReduceOp)
def _tensor_from_shared(op: bulk_copy.TensorFromSharedOp, out: KernelText) -> None:
    operands = [_box(op, op.map, out), f"[{out.register(op.source)}]"]
    if op.cache_hint is not None:
        operands.append(out.register(op.cache_hint))
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(bulk_copy.PrefetchTensormapOp)
def _prefetch(op: bulk_copy.PrefetchTensormapOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} [{out.register(op.map)}];", op)


# Warps


@emits(warp_specialization.ElectSyncOp)
def _elect(op: warp_specialization.ElectSyncOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} _|{out.register(op.leader)}, 0xffffffff;", op)


@emits(warp_specialization.SetmaxnregOp)
def _setmaxnreg(op: warp_specialization.SetmaxnregOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {op.registers.value.data};", op)
