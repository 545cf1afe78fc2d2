"""Kernels of one `wgmma.mma_async` each, for one warpgroup, and their inputs."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from kernels import Code
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    MAJOR_MODES,
    SWIZZLE_MODES,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.sm90 import SM90_MMA, SM90_SPARSE_MMA, WARPGROUP
from tilewright.dialects.ptx import wgmma
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.registers import SharedAddressOp
from tilewright.dialects.ptx.scalars import AddOp, CvtOp, SetpOp, ShrOp
from tilewright.dialects.ptx.synchronization import BarSyncOp

IMAGE = 40960
"""Bytes of shared memory: more than the farthest that a descriptor of `descriptor_of` reaches."""

CASES = len(SWIZZLE_MODES)
_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True, slots=True)
class Form:
    """One instruction with all of its immediates."""

    atom: WgmmaAtom
    negated: tuple[bool, bool]
    selector: int

    @property
    def is_smallest(self) -> bool:
        """Whether it has the smallest N of its row."""
        return self.atom.n == self.atom.row.ns[0]

    @property
    def name(self) -> str:
        """The mnemonic, and everything that it does not say."""
        atom = self.atom
        flags = "".join("-" if each else "+" for each in self.negated)
        return f"{atom.mnemonic} {atom.frag_kind} {'.'.join(atom.majors)} {flags} {self.selector}"


def forms() -> list[Form]:
    """Every form at the smallest N, and each row's first types at its largest."""
    found: list[Form] = []
    for row in (*SM90_MMA, *SM90_SPARSE_MMA):
        flags = (False, True) if row.satfinite else (False,)
        for types, satfinite in product(row.element_types(), flags):
            found += _placed(WgmmaAtom(row, row.ns[0], types, satfinite))
        found.append(Form(WgmmaAtom(row, row.ns[-1], row.element_types()[0]), (False, False), 0))
    return found


def _placed(atom: WgmmaAtom) -> Iterator[Form]:
    """The atom with A in shared memory and in registers, with every major-ness and negation."""
    row, plain = atom.row, (False, False)
    majors = MAJOR_MODES if row.transposes else MAJOR_MODES[:1]
    for selector in atom.selectors[0].legal if atom.selectors else (0,):
        for a, b in product(majors, majors):
            yield Form(_with(atom, "ss", a, b), plain, selector)
        for b in majors:
            yield Form(_with(atom, "rs", "k", b), plain, selector)
    if row.negates:
        yield Form(atom, (True, False), 0)
        yield Form(atom, (False, True), 0)


def _with(atom: WgmmaAtom, kind: Any, a: Any, b: Any) -> WgmmaAtom:
    return WgmmaAtom(atom.row, atom.n, atom.types, atom.satfinite, (a, b), kind)


# Inputs


def inputs(form: Form, case: int) -> dict[str, Any]:
    """What `tilewright.simulate` takes, by its names: the case is the swizzling mode, moderate
    values in even cases and random bits in odd ones."""
    atom = form.atom
    rng = np.random.default_rng([zlib.crc32(form.name.encode()), case])
    a, d = atom.element("A"), atom.element("D")
    moderate = case % 2 == 0
    kind, count = atom.registers("D")
    given: dict[str, Any] = {
        "c": _words(d, (WARPGROUP, count), rng, moderate),
        "smem": _words(a, (IMAGE // 4,), rng, moderate).view(np.uint8),
        "b_desc": descriptor_of(case, rng).encode(),
        "scale_d": case != CASES - 1,
    }
    if atom.frag_kind == "rs":
        given["a"] = _words(a, (WARPGROUP, atom.registers("A")[1]), rng, moderate)
    else:
        given["a_desc"] = descriptor_of(case, rng).encode()
    if atom.row.sparse:
        given["metadata"] = _metadata(a, rng, legal=moderate)
    assert kind in ("b32", "f32")
    return given


def descriptor_of(mode: int, rng: np.random.Generator) -> SmemDescriptor:
    """Any start address and offsets, overlapping rows too, of one swizzling mode."""
    start, lead, stride = (int(rng.integers(0, each)) * 16 for each in (256, 64, 64))
    base = int(rng.integers(0, 8)) if mode else 0
    return SmemDescriptor(start, lead, stride, SWIZZLE_MODES[mode], base)


def _words(
    element: ElementType, shape: tuple[int, ...], rng: np.random.Generator, moderate: bool
) -> NDArray[np.uint32]:
    """Words of elements: normal values of modest size, or random bits."""
    if not moderate or element.name not in _DTYPES:
        return rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    whole = (*shape[:-1], shape[-1] * 32 // element.bits)
    values = rng.standard_normal(whole) * np.exp2(rng.integers(-4, 5, whole))
    return np.ascontiguousarray(values.astype(_DTYPES[element.name])).view(np.uint32)


def _metadata(element: ElementType, rng: np.random.Generator, *, legal: bool) -> NDArray[np.uint32]:
    """Two different indices for each chunk, or random bits, most of which PTX leaves undefined."""
    if not legal:
        return rng.integers(0, 1 << 32, WARPGROUP, dtype=np.uint32)
    pairs = [high << 2 | low for low in range(4) for high in range(4) if low != high]
    chunks = [0b0100, 0b1110] if element.bits == 32 else pairs
    nibbles = rng.choice(np.array(chunks, dtype=np.uint32), (WARPGROUP, 8))
    return np.bitwise_or.reduce(nibbles << np.arange(0, 32, 4, dtype=np.uint32), axis=1)


def immediates(form: Form) -> dict[str, int]:
    """The immediates that `tilewright.simulate` takes, by name."""
    return {
        "imm_scale_a": -1 if form.negated[0] else 1,
        "imm_scale_b": -1 if form.negated[1] else 1,
        "imm_trans_a": MAJOR_MODES.index(form.atom.majors[0]),
        "imm_trans_b": MAJOR_MODES.index(form.atom.majors[1]),
        "selector": form.selector,
    }


def digest(d: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """What a fixture keeps of a result."""
    data = hashlib.sha256(np.ascontiguousarray(d, dtype="<u4").tobytes()).digest()
    return np.frombuffer(data, dtype=np.uint8)


# Kernels

_COPIED = WARPGROUP * 16


def arguments(form: Form, case: int) -> list[NDArray[Any]]:
    """The kernel's buffers: the image, C, A's words, descriptors and scale-d, metadata, and D."""
    given = inputs(form, case)
    c = given["c"]
    words = [given.get("a_desc", 0), given["b_desc"], int(given["scale_d"]), 0]
    a = given.get("a", np.zeros((WARPGROUP, 1), dtype=np.uint32))
    metadata = given.get("metadata", np.zeros(WARPGROUP, dtype=np.uint32))
    return [
        given["smem"], c, a, np.array(words, dtype=np.uint64), metadata, np.zeros_like(c)
    ]  # fmt: skip


def kernel(form: Form) -> ModuleOp:
    """One warpgroup computes one wgmma on the buffers of `arguments`."""
    code, atom = Code(6), form.atom
    image, c, a, words, metadata, d = code.block.args
    _load_image(code, image)
    source = code.start(words)
    scale_d = code.add(LdOp("global", "b64", source, 16))
    accumulates = code.add(SetpOp("ne.s64", [scale_d, code.const(0, "b64")]))
    b = _placed_descriptor(code, code.add(LdOp("global", "b64", source, 8)))
    if atom.frag_kind == "rs":
        first = code.load_list(a, *atom.registers("A"))
    else:
        first = _placed_descriptor(code, code.add(LdOp("global", "b64", source)))
    accumulator = code.load_list(c, *atom.registers("D"))
    sparse = atom.row.sparse
    e = code.load_list(metadata, "b32", 1) if sparse else None
    code.block.add_op(wgmma.WgmmaFenceOp())
    result = code.add(
        wgmma.WgmmaOp(
            first, b, accumulator, atom, negated=form.negated, scale_d=accumulates,
            metadata=e, selector=form.selector if sparse else None,
        )
    )  # fmt: skip
    code.block.add_op(wgmma.WgmmaCommitGroupOp())
    code.block.add_op(wgmma.WgmmaWaitGroupOp(0))
    code.store_list(d, result)
    return code.module("wgmma", IMAGE, 1024)


def _load_image(code: Code, image: SSAValue) -> None:
    """Copy the image to shared memory, 16 bytes a thread at a time."""
    source = code.element(image, 16)
    dest = code.add(AddOp("u32", [code.add(SharedAddressOp(0)), code.offset(16, "u32")]))
    for place in range(0, IMAGE, _COPIED):
        value = code.add(LdOp("global", "b32", source, place, 4))
        code.block.add_op(StOp("shared", "b32", dest, value, place))
    code.block.add_op(wgmma.FenceProxyAsyncOp())
    code.block.add_op(BarSyncOp(0))


def _placed_descriptor(code: Code, word: SSAValue) -> SSAValue:
    """A descriptor that counts from the kernel's shared memory, as one of the shared window."""
    units = code.add(ShrOp("u32", [code.add(SharedAddressOp(0)), code.const(4, "b32")]))
    return code.add(AddOp("u64", [word, code.add(CvtOp("u64.u32", [units]))]))
