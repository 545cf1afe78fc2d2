"""Loads, stores, copies, barriers and special registers assemble in every form that verifies."""

from __future__ import annotations

import re
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
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC, NAMED_BARRIER
from tilewright.dialects.cute_nvgpu.lattice.atomics import (
    ADDRESSED,
    INSTRUCTIONS,
    operand_count,
    registers_of,
)
from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    ACCESS_TYPES,
    APPLY_PRIORITY,
    ASYNC,
    CACHE_HINT,
    CLUSTER_REGISTERS,
    CLUSTER_SPACE,
    CP_ASYNC_PREFETCH,
    DISCARD,
    GENERIC,
    SEMANTICS,
    VECTOR_BITS,
    WEAK,
    AsyncCopyRow,
)
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.multimem import MULTIMEM
from tilewright.dialects.cute_nvgpu.lattice.sync import (
    FENCE,
    FENCE_IN_CLUSTERS,
    PROXY_FENCES,
    PROXY_FENCES_OF_MAPS,
    RESTRICTED_FENCES,
)
from tilewright.dialects.cute_nvgpu.lattice.warp import REDUX_FLOAT
from tilewright.dialects.ptx import data_movement as data
from tilewright.dialects.ptx import multimem, registers, synchronization, warp
from tilewright.dialects.ptx.atomics import AtomOp, RedOp
from tilewright.dialects.ptx.control_flow import PARAMETER_TYPES, TENSORMAP
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.registers import ListMakeOp
from tilewright.dialects.ptx.types import KINDS, reg

OFFSETS = (0, 32, -32)


def check(
    kernel: Kernel, ptxas: Ptxas, *, lowest: tuple[str, tuple[int, int]] | None = None
) -> str:
    """The kernel's text, which has to assemble cleanly and to ask for no more than `lowest`."""
    text = text_of(kernel)
    target, version = directives(text)
    assert (target, version) == (lowest or ("sm_70", (6, 0)))
    assert complaints(text, ptxas(text, gpu_of(target))) == {}
    return text


def check_refused(text: str, mnemonic: str, target: str, version: tuple[int, int], ptxas: Ptxas):
    """On an older target, and at an older version, every line of the mnemonic is refused."""
    lines = instructions(text, mnemonic)
    assert lines
    for lowered, arch in (
        (with_target(text, target), gpu_of(target)),
        (with_version(text, version), gpu_of(directives(text)[0])),
    ):
        assert lines <= set(complaints(lowered, ptxas(lowered, arch)))


@pytest.mark.parametrize("space", ["global", "shared", "shared::cluster"])
@pytest.mark.parametrize("access", ACCESS_TYPES)
def test_loads_and_stores(space: str, access: str, ptxas: Ptxas):
    kernel = Kernel(shared=4096)
    for count in (1, 2, 4):
        if count * int(access[1:]) > VECTOR_BITS:
            continue
        for offset in OFFSETS:
            address = kernel.pointer if space == "global" else kernel.shared_address(256)
            kernel.output(kernel.add(data.LdOp(space, access, address, offset, count)))
            value = kernel.input(ACCESS_TYPES[access], count)
            kernel.add(data.StOp(space, access, address, value, offset))
    lowest = ("sm_90", (7, 8)) if space == "shared::cluster" else None
    text = check(kernel, ptxas, lowest=lowest)
    assert f"ld.{space}.v2.{access}" in text and f"st.{space}.{access}" in text


def test_wider_vectors_need_a_later_target(ptxas: Ptxas):
    kernel = Kernel()
    for access, count in (("b32", 8), ("f32", 8), ("b64", 4), ("f64", 4)):
        value = kernel.add(data.LdOp("global", access, kernel.pointer, 0, count))
        kernel.add(data.StOp("global", access, kernel.pointer, value, 32))
    text = check(kernel, ptxas, lowest=("sm_100", (8, 8)))
    refused_below(text, ".v4", ptxas)
    refused_below(text, ".v8", ptxas)
    with pytest.raises(VerifyException, match="1 or 2 or 4 registers b32 for b32, got"):
        data.LdOp("shared", "b32", kernel.shared_address(64), 0, 8).verify()


def test_parameters_of_every_type(ptxas: Ptxas):
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Region

    from tilewright.dialects.ptx.control_flow import EntryOp
    from tilewright.dialects.ptx.functions import RetOp
    from tilewright.lowering.ptx.text import module_text

    scalars = {name: kind for name, kind in PARAMETER_TYPES.items() if name != TENSORMAP}
    block = Block(arg_types=[reg(kind) for kind in scalars.values()])
    address = block.args[list(scalars).index("u64")]
    for argument, kind in zip(block.args, scalars.values(), strict=True):
        block.add_op(data.StOp("global", kind, address, argument))
    block.add_op(RetOp())
    # Names that are no PTX identifiers, that differ in such letters alone, and the shared memory's.
    names = ["shared", "a.b", "a-b", "a_b", "0", "x$y"]
    entry = EntryOp("f", list(zip(names, scalars, strict=True)), Region(block), 64, 16, (32, 1, 1))
    module = ModuleOp([entry])
    module.verify()
    text = module_text(module)
    assert complaints(text, ptxas(text, "sm_75")) == {}


def test_special_registers(ptxas: Ptxas):
    for names, lowest in (
        ({*registers.SPECIAL_REGISTERS} - {*CLUSTER_REGISTERS}, None),
        (CLUSTER_REGISTERS, ("sm_90", (7, 8))),
    ):
        kernel = Kernel()
        for name in names:
            kernel.output(kernel.add(registers.SregOp(name)))
        check(kernel, ptxas, lowest=lowest)


def test_moves_between_registers_of_one_width(ptxas: Ptxas):
    kernel = Kernel()
    for source, width in KINDS.items():
        for result, other in KINDS.items():
            if width == other != 8:
                kernel.output(kernel.add(registers.MovOp(kernel.input(source), reg(result))))
    check(kernel, ptxas)


def test_constants_in_registers(ptxas: Ptxas):
    kernel = Kernel()
    for kind, width in KINDS.items():
        if kind == "b8":
            continue
        for bits in {-1, 0, -(1 << (width - 1)), (1 << width) - 1}:
            kernel.output(kernel.constant(bits, kind))
    check(kernel, ptxas)


def test_pack_and_unpack(ptxas: Ptxas):
    kernel = Kernel()
    kernel.output(kernel.add(registers.PackOp(kernel.input("b16"), kernel.input("b16"))))
    kernel.output(kernel.add(registers.PackOp(kernel.constant(-1, "b16"), kernel.input("b16"))))
    kernel.output(kernel.add(registers.UnpackOp(kernel.input("b32"))))
    kernel.output(kernel.add(registers.UnpackOp(kernel.constant(-1, "b32"))))
    octets = kernel.add(registers.UnpackOp(kernel.input("b16")))
    low, high = (kernel.add(registers.ListGetOp(octets, place)) for place in range(2))
    kernel.output(kernel.add(registers.PackOp(high, low)))
    check(kernel, ptxas)


def test_shared_memory_above_48_kilobytes(ptxas: Ptxas):
    """Such a kernel declares it extern, and may be launched with as much as the GPU has."""
    for size in (48 * 1024, 48 * 1024 + 16, 200 * 1024):
        kernel = Kernel(shared=size)
        kernel.output(kernel.shared_address(size - 16))
        text = check(kernel, ptxas)
        assert (".extern .shared .align 128 .b8 kernel_shared[];" in text) == (size > 48 * 1024)


def test_cp_async(ptxas: Ptxas):
    assert "L2::64B" in copies(CP_ASYNC_PREFETCH, ptxas)
    text = copies(CP_ASYNC, ptxas)
    check_refused(text, "cp.async", "sm_75", (6, 5), ptxas)


def copies(row: AsyncCopyRow, ptxas: Ptxas) -> str:
    """A kernel of all copies of a row, which ptxas takes."""
    kernel = Kernel()
    for cache, sizes in row.sizes.items():
        for size in sizes:
            fills = (None, kernel.input("b32"), *(kernel.constant(n, "b32") for n in (0, 3, size)))
            for fill in fills:
                address = kernel.shared_address(size)
                policy = kernel.input("b64") if CACHE_HINT in cache else None
                kernel.add(
                    data.CpAsyncOp(
                        address, kernel.pointer, cache, size, source_size=fill, cache_hint=policy
                    )
                )
    kernel.add(data.CpAsyncCommitGroupOp())
    for pending in (0, 1, 7, 100):
        kernel.add(data.CpAsyncWaitGroupOp(pending))
    return check(kernel, ptxas, lowest=("sm_80", row.ptx_version))


def test_prefetch(ptxas: Ptxas):
    kernel = Kernel()
    kernel.add(data.PrefetchOp(kernel.pointer))
    assert "prefetch.global.L2 [" in check(kernel, ptxas)


def test_barriers(ptxas: Ptxas):
    kernel = Kernel()
    for barrier in range(NAMED_BARRIER.barriers):
        kernel.add(synchronization.BarSyncOp(barrier))
        for threads in (32, 64, NAMED_BARRIER.max_threads):
            kernel.add(synchronization.BarSyncOp(barrier, threads=threads))
            kernel.add(synchronization.BarArriveOp(barrier, threads=threads))
    kernel.add(synchronization.WarpSyncOp())
    check(kernel, ptxas)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("space", data.LdOp.ROW.spaces)
def test_orders_of_loads_and_stores(space: str, wide: bool, ptxas: Ptxas):
    """Scope `cluster` asks for sm_90, and no other one does."""
    kernel, orders = Kernel(shared=4096), set[str]()
    for i, access in enumerate(ACCESS_TYPES):
        address = kernel.pointer if space == "global" else kernel.shared_address(256)
        for name in ("ld", "st"):
            for order in SEMANTICS[name]:
                if order == WEAK or order.endswith("cluster") is not wide:
                    continue
                orders.add(f"{name}.{order}.{space}")
                count, offset = 1 + i % 2, OFFSETS[i % 3]
                if name == "ld":
                    load = data.LdOp(space, access, address, offset, count, semantics=order)
                    kernel.output(kernel.add(load))
                else:
                    value = kernel.input(ACCESS_TYPES[access], count)
                    kernel.add(data.StOp(space, access, address, value, offset, semantics=order))
    text = check(kernel, ptxas, lowest=("sm_90", (7, 8)) if wide else None)
    assert all(order in text for order in orders)
    if wide:
        refused_below(text, ".cluster", ptxas)


def test_stores_and_sums_that_go_on_by_themselves(ptxas: Ptxas):
    kernel = Kernel()
    for order in ASYNC:
        for access in ("b16", "b32", "b64", "f32", "f64"):
            value = kernel.input(ACCESS_TYPES[access])
            for space in ("global", GENERIC):
                store = data.StOp(space, access, kernel.pointer, value, 8, semantics=order)
                kernel.add(store)
        for type_ in ("u32", "u64"):
            value = kernel.input(f"b{type_[1:]}")
            kernel.add(RedOp(kernel.pointer, value, "global", f"add.{type_}", 8, semantics=order))
    text = check(kernel, ptxas, lowest=("sm_100", (8, 7)))
    refused_below(text, ".async.", ptxas)
    value = kernel.input("b16")
    with pytest.raises(VerifyException, match="expected  registers b16 for b8"):
        data.StOp("global", "b8", kernel.pointer, value, 0, semantics=ASYNC[0]).verify()


def refused_below(text: str, words: str, ptxas: Ptxas) -> None:
    """On sm_80, with its own version of PTX, every line with some words is refused."""
    lines = {line.strip() for line in text.splitlines() if words in line} - {""}
    older = with_target(with_version(text, (7, 7)), "sm_80")
    assert lines and lines <= set(complaints(older, ptxas(older, "sm_80")))


@pytest.mark.parametrize("name", ["atom", "red"])
@pytest.mark.parametrize("space", ADDRESSED)
def test_atomics(space: str, name: str, ptxas: Ptxas):
    """Every order of every form, by what it needs."""
    forms: dict[tuple[str, tuple[int, int]], list[tuple[str, str, bool]]] = {}
    for mnemonic, row in INSTRUCTIONS.items():
        if ".async." in mnemonic:
            continue
        hint = CACHE_HINT in mnemonic
        instruction, order, scope, *form = mnemonic.replace(CACHE_HINT, "").split(".")
        where = form.pop(0) if form[0] in ADDRESSED else GENERIC
        if (instruction, where) == (name, space):
            needs = row.target.name, row.ptx_version
            forms.setdefault(needs, []).append((f"{order}.{scope}", ".".join(form), hint))
    everywhere = set() if space == CLUSTER_SPACE else {("sm_70", (6, 0)), ("sm_70", (6, 3))}
    hints = {("sm_80", (7, 4))} if space in ("global", GENERIC) else set()
    vectors = {("sm_90", (8, 1))} if space == "global" else set()
    wide = {("sm_90", (8, 3)), ("sm_90", (8, 4))} if name == "atom" else set()
    assert set(forms) == {("sm_90", (7, 8)), *everywhere, *hints, *vectors, *wide}
    for needs, some in forms.items():
        kernel = Kernel(shared=4096)
        for i, (semantics, form, hint) in enumerate(some):
            policy = kernel.input("b64") if hint else None
            shared = ADDRESSED[space] == "b32"
            address = kernel.shared_address(256) if shared else kernel.pointer
            register, count = registers_of(form)
            values = [kernel.input(register) for _ in range(operand_count(form))]
            if count > 1:
                lists = (ListMakeOp([value] * count, reg(register, count)) for value in values)
                values = [kernel.add(one) for one in lists]
            offset = OFFSETS[i % 3]
            if name == "atom":
                atom = AtomOp(
                    space, form, address, values, offset, semantics=semantics, cache_hint=policy
                )
                kernel.output(kernel.add(atom))
            else:
                how = {"semantics": semantics, "cache_hint": policy}
                kernel.add(RedOp(address, *values, space, form, offset, **how))
        text = check(kernel, ptxas, lowest=needs)
        place = "" if space == GENERIC else f"{space}."
        plain = text.replace(CACHE_HINT, "")
        assert all(f"\t{name}.{order}.{place}{form} " in plain for order, form, _ in some)
        assert text.count(CACHE_HINT) == sum(hint for _, _, hint in some)
        if needs[0] == "sm_90":
            refused_below(text, f"{name}.", ptxas)


@pytest.mark.parametrize("row", [FENCE, FENCE_IN_CLUSTERS], ids=["", "cluster"])
def test_fences(row: InstructionRow, ptxas: Ptxas):
    kernel = Kernel()
    for mnemonic in row.mnemonics:
        kernel.add(synchronization.FenceOp(mnemonic.removeprefix("fence.")))
    text = check(kernel, ptxas, lowest=(row.target.name, row.ptx_version))
    assert all(f"\t{mnemonic};" in text for mnemonic in row.mnemonics)
    if row is FENCE_IN_CLUSTERS:
        refused_below(text, "\tfence", ptxas)
    with pytest.raises(VerifyException, match=r"acq_rel.cta or .*, got acquire.gpu"):
        synchronization.FenceOp("acquire.gpu").verify()


def hints(kernel: Kernel) -> dict[tuple[str, tuple[int, int]], list[PtxOp]]:
    """Fences of other proxies, hints for caches, and reductions of a warp, by what they need."""
    word, member, at = kernel.input("f32"), kernel.constant(-1, "b32"), kernel.pointer

    def fences(row: InstructionRow, address: SSAValue | None = None) -> list[PtxOp]:
        forms = (name.removeprefix("fence.") for name in row.mnemonics)
        return [synchronization.ProxyFenceOp(form, address=address) for form in forms]

    lines = ((data.DiscardOp, DISCARD), (data.ApplyPriorityOp, APPLY_PRIORITY))
    return {
        ("sm_90", (8, 3)): [*fences(PROXY_FENCES), *fences(PROXY_FENCES_OF_MAPS, at)],
        ("sm_90", (8, 6)): fences(RESTRICTED_FENCES),
        ("sm_80", (7, 4)): [
            op(at, 128, name.partition(".")[2]) for op, row in lines for name in row.mnemonics
        ],
        ("sm_100a", (8, 6)): [
            warp.ReduxOp(word, member, reg("f32"), name.removeprefix("redux.sync."))
            for name in REDUX_FLOAT.mnemonics
        ],
    }


@pytest.mark.parametrize("lowest", hints(Kernel()), ids=str)
def test_fences_and_hints(lowest: tuple[str, tuple[int, int]], ptxas: Ptxas):
    kernel = Kernel()
    for op in hints(kernel)[lowest]:
        result = kernel.add(op)
        if op.results:
            kernel.output(result)
    text = check(kernel, ptxas, lowest=lowest)
    older = older_target(lowest[0]), older_version(lowest[1])
    check_refused(text, op.mnemonic.partition(".")[0], *older, ptxas)


@pytest.mark.parametrize(
    ("lowest", "older"),
    [(("sm_90", (8, 1)), ("sm_80", (8, 0))), (("sm_90", (8, 2)), ("sm_80", (8, 1))),
     (("sm_100a", (8, 6)), ("sm_90", (8, 5))), (("sm_100", (9, 3)), ("sm_90", (9, 2)))],
)  # fmt: skip
def test_multicast_objects(lowest: Any, older: Any, ptxas: Ptxas):
    """As each target and version of PTX has them, and none below."""
    kernel, predicate = Kernel(), None
    forms = [name for name, row in MULTIMEM.items() if row.ptx_version == lowest[1]]
    for i, name in enumerate(forms):
        instruction, _, form = name.partition(".")
        registers = multimem.register_of(form)
        value, predicate = kernel.input(registers.kind.data), kernel.input("pred")
        if registers.count.data > 1:
            value = kernel.add(ListMakeOp([value] * registers.count.data, registers))
        address, offset, guard = kernel.pointer, OFFSETS[i % 3], (None, predicate)[i % 2]
        if instruction == "ld_reduce":
            other = value if guard else None
            load = multimem.MultimemLoadReduceOp(
                address, registers, form, offset, predicate=guard, otherwise=other
            )
            kernel.output(kernel.add(load))
        else:
            stores = instruction == "st"
            write = multimem.MultimemStoreOp if stores else multimem.MultimemReduceOp
            kernel.add(write(value, address, form, offset, predicate=guard))
    kernel.add(synchronization.FenceProxyAliasOp())
    text = check(kernel, ptxas, lowest=lowest)
    assert forms and all(f"multimem.{form} " in text for form in forms)
    check_refused(text, "multimem", *older, ptxas)


@pytest.mark.parametrize(
    "form, kind, words",
    [("weak.global.add.f32", "f32", "expected a form of PTX ISA 9.7.9.14 such as red.relaxed"),
     ("relaxed.gpu.global.add.f32", "b32", "expected !ptx.reg<f32> for multimem.red.relaxed")],
)  # fmt: skip
def test_accesses_to_multicast_objects_that_there_are_not(form: str, kind: str, words: str):
    kernel = Kernel()
    reduce = multimem.MultimemReduceOp(kernel.input(kind), kernel.pointer, form, 0)
    with pytest.raises(VerifyException, match=words):
        reduce.verify()


def test_guarded_loads_and_atomics(ptxas: Ptxas):
    kernel = Kernel(shared=4096)
    predicate, other = kernel.input("pred"), kernel.input("b32")
    load = data.LdOp("global", "b32", kernel.pointer, 4, 1, predicate=predicate, otherwise=other)
    kernel.output(kernel.add(load))
    atom = AtomOp(
        "global", "add.u32", kernel.pointer, [other], 0, predicate=predicate, otherwise=load.result
    )
    kernel.output(kernel.add(atom))
    text = check(kernel, ptxas)
    for name in ("ld.global.b32", "atom"):
        assert re.search(rf"mov\.b32 (%r\d+), %r\d+;\n(?:\t//.*\n)*\t@%p1 {name}\S* \1,", text)


@pytest.mark.parametrize(
    "space, form, words",
    [("local", "add.u32", "a form of add.u32, "), ("global", "add.s8", "got global, add.s8"),
     ("shared", "add.u32", r"expected !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> for shared")],
)  # fmt: skip
def test_atomics_that_there_are_not(space: str, form: str, words: str):
    kernel = Kernel(shared=64)
    atom = AtomOp("global", "add.u32", kernel.pointer, [kernel.input("b32")])
    atom.properties |= {"space": StringAttr(space), "form": StringAttr(form)}
    with pytest.raises(VerifyException, match=words):
        atom.verify()
