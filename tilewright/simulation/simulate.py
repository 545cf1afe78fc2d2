"""`tilewright.atom` and `tilewright.simulate`: one instruction by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.arguments.options import AtomArgumentError, checked
from tilewright.dialects.cute_nvgpu.atoms.atom import Atom, AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import Modifiers, find, parse
from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom, UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import UMMA_OPS, find_umma, umma_of
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import parse_mnemonic
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import WGMMA_OPS, find_wgmma, parse_wgmma
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice.row import ElementTypes, Shape
from tilewright.simulation.umma import UmmaInputs, simulate_umma
from tilewright.simulation.warp import WarpInputs, simulate_warp
from tilewright.simulation.warpgroup import WarpgroupInputs, simulate_wgmma
from tilewright.source.checked import instance_of


class AtomOptions(Modifiers, total=False):
    """The options that tell atoms of one shape and its element types apart: `Modifiers` and, of
    `tcgen05.mma`, how A and B lie in shared memory, whether A is there, how many CTAs, and the
    instruction descriptor that says all of that for a mnemonic."""

    ab_major: tuple[MajorMode, MajorMode]
    frag_kind: UmmaFragmentKind
    cta_group: int
    idesc: int


@checked(AtomArgumentError, name=instance_of(str, words="a PTX mnemonic or an op of the lattice"))
def atom(
    name: str,
    *,
    shape: Shape | None = None,
    elem_type: tuple[str, ...] | None = None,
    **options: Unpack[AtomOptions],
) -> AnyMmaAtom:
    """An MMA atom, by PTX mnemonic or by op.

        atom("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
        atom("sm80.mma", shape=(16, 8, 16), elem_type=("bf16", "bf16", "f32"))
        atom("sm80.sparse_mma", shape=(16, 8, 32), elem_type=("f16", "f16", "f32"), sparsity="sp")
        atom("tcgen05.mma.cta_group::1.kind::f16", idesc=0x08200490)
        atom("sm100.mma", shape=(128, 128, 16), elem_type=("bf16", "bf16", "f32"))

    `shape` is (M, N, K); `elem_type` the PTX names of a, b and the accumulators, or of a, b, c
    and d. `options` (satfinite, rounding, majors, bit_op, kind, sparsity, scale_vector, scale_type)
    take PTX's words. The mnemonic of a `tcgen05.mma` says neither shape nor types: they, or the
    instruction descriptor `idesc`, go with it, and ab_major, frag_kind ("ss", or "ts" for an A in
    tensor memory) and cta_group with its op. Raises AtomError, naming the nearest legal atom, where
    the lattice has no such row.
    """
    op = name.removeprefix("cute_nvgpu.")
    if name.startswith("tcgen05.mma") or op in UMMA_OPS:
        return _find_umma(op, shape, elem_type, options)
    if name.startswith(("mma.", "wmma.mma.", "wgmma.mma_async.")):
        if shape is not None or elem_type is not None or any(options.values()):
            raise AtomError(f"a mnemonic says everything by itself, got more beside '{name}'")
        return parse_wgmma(name) if name.startswith("wgmma.") else parse(name)
    if shape is None or elem_type is None or len(elem_type) not in (3, 4):
        raise AtomError(
            f"'{name}' expected shape=(M, N, K) and elem_type=(a, b, acc) or (a, b, c, d)"
        )
    if unknown := options.keys() & {"ab_major", "frag_kind", "cta_group", "idesc"}:
        raise AtomError(f"'{name}' expected no {', '.join(sorted(unknown))}")
    modifiers = cast("Modifiers", options)
    if op in WGMMA_OPS:
        return _find_wgmma(op, shape, elem_type, modifiers)
    types = (*elem_type, elem_type[-1]) if len(elem_type) == 3 else elem_type
    return find(op, shape, cast("ElementTypes", types), **modifiers)


_UMMA_OPTIONS = {"ab_major": "majors", "frag_kind": "frag_kind", "cta_group": "cta_group"} | {
    name: name for name in ("satfinite", "kind", "scale_vector", "scale_type")
}
"""The options of a `tcgen05.mma`, by what `find_umma` calls them."""


def _find_umma(
    name: str, shape: Shape | None, elem_type: tuple[str, ...] | None, options: AtomOptions
) -> UmmaAtom:
    """By op with shape and types, or by mnemonic with them or with an instruction descriptor."""
    by_mnemonic, idesc = name.startswith("tcgen05."), options.get("idesc")
    if by_mnemonic and idesc is not None and shape is None and elem_type is None:
        try:
            return umma_of(name, idesc, options.get("frag_kind", "ss"))
        except DescriptorError as error:
            raise AtomError(f"{name}: {error}") from None
    unknown = options.keys() - _UMMA_OPTIONS.keys()
    if unknown or shape is None or elem_type is None or len(elem_type) != 3:
        other = " or idesc=" if by_mnemonic else ""
        got = f", got {', '.join(sorted(unknown))}" if unknown else ""
        raise AtomError(f"'{name}' expected shape=(M, N, K) and elem_type=(a, b, d){other}{got}")
    given: dict[str, Any] = {_UMMA_OPTIONS[key]: value for key, value in options.items()}
    if by_mnemonic:
        said = parse_mnemonic(name)
        name = said.rows[0].op
        given |= {"cta_group": said.cta_group, "kind": said.kind}
        if said.rows[0].scale is not None:
            given.setdefault("scale_vector", said.rows[0].scale.vector)
    a, b, d = elem_type
    return find_umma(name, shape, (a, b, d), **given)


def _find_wgmma(
    op: str, shape: Shape, elem_type: tuple[str, ...], modifiers: Modifiers
) -> WgmmaAtom:
    satfinite = modifiers.pop("satfinite", False)
    if any(modifiers.values()) or len(elem_type) != 3:
        given = ", ".join((*modifiers, *elem_type))
        raise AtomError(
            f"'{op}' expected elem_type=(a, b, d) and no modifier but satfinite, got {given}"
        )
    a, b, d = elem_type
    return find_wgmma(op, shape, (a, b, d), satfinite=satfinite)


class SimulatedOperands(TypedDict, total=False):
    """The operands of every atom, under PTX's names; see `simulate`."""

    a: ArrayLike | None
    b: ArrayLike | None
    c: ArrayLike | None
    metadata: ArrayLike | None
    selector: int
    scale_a_data: ArrayLike | None
    scale_b_data: ArrayLike | None
    byte_id_a: int
    thread_id_a: int
    byte_id_b: int
    thread_id_b: int
    smem: ArrayLike | None
    a_desc: ArrayLike | None
    b_desc: ArrayLike | None
    scale_d: ArrayLike
    imm_scale_a: int
    imm_scale_b: int
    imm_trans_a: int
    imm_trans_b: int
    tmem: ArrayLike | None
    d_tmem: int | None
    a_tmem: int | None
    sp_meta_tmem: int | None
    scale_a_tmem: int | None
    scale_b_tmem: int | None
    idesc: int | None
    enable_input_d: bool
    scale_input_d: int
    disable_output_lane: ArrayLike | None
    zero_column_mask_desc: int | None


_FAMILIES: dict[type[Atom[Any]], tuple[type[Any], Callable[..., NDArray[np.uint32]]]] = {
    MmaAtom: (WarpInputs, simulate_warp),
    WgmmaAtom: (WarpgroupInputs, simulate_wgmma),
    UmmaAtom: (UmmaInputs, simulate_umma),
}
"""The inputs of each family of atoms, and what computes it."""

_DEFAULTS = {
    operand.name: operand.default for inputs, _ in _FAMILIES.values() for operand in fields(inputs)
}


@checked(AtomArgumentError)
@np.errstate(all="ignore")
def simulate(
    atom: AnyMmaAtom,
    *,
    arch: str,
    numerics: Literal["hardware", "exact"] = "hardware",
    **operands: Unpack[SimulatedOperands],
) -> NDArray[np.uint32]:
    """D = A * B + C of one atom, on raw register words.

    `a`, `b`, `c`: uint32 [..., threads, words], with equal leading batch axes; elements count from
    the low bits of a word, and an f64 register is two words, low first. Returns D alike. A sparse
    atom also takes `metadata` (uint32 [..., threads]) and its sparsity `selector`; a block-scaled
    one `scale_a_data` and `scale_b_data` (uint32 [..., threads]) and their selectors. A `wgmma`
    atom reads `smem` (uint8 [bytes] or [..., bytes]), the image of shared memory from address 0 on:
    B at `b_desc` (a 64-bit word, or one for each batch) and A at `a_desc`, or from registers, `a`;
    where `scale_d` is false, D = A * B. Names are PTX's.

    A `tcgen05.mma` atom reads `smem` and `tmem`, uint32 [..., 128, 512] (lanes, columns), and
    returns tensor memory after; of a pair of CTAs both have an axis of 2 before those. B is at
    `b_desc`, A at `a_desc` or `a_tmem`, D at `d_tmem`; sparsity metadata at `sp_meta_tmem`, scale
    factors at `scale_a_tmem` and `scale_b_tmem`. `idesc` (otherwise that of the atom) says what
    is negated, the sparsity selector and the scale factor ids. `enable_input_d`, `scale_input_d`,
    `disable_output_lane` (uint32 [4], of a pair [8]) and `zero_column_mask_desc` are PTX's.

    `numerics="hardware"` is what the tensor cores of `arch` compute, bit for bit where
    docs/numerics.md says so; "exact" is the mathematical result, rounded once. Metadata that PTX
    leaves undefined give what an H100 or H200 computes.

    Raises AtomError where the arch cannot run the atom, an operand is missing, superfluous or of
    the wrong shape or dtype, or a selector or descriptor is illegal; TargetError for an unknown
    arch, NumericsError where that chip's arithmetic is unknown.
    """
    inputs, run = _FAMILIES[type(atom)]
    known = {operand.name for operand in fields(inputs)}
    for name, value in operands.items():
        plain = value is None or (np.ndim(cast("Any", value)) == 0 and value == _DEFAULTS.get(name))
        if name not in known and not plain:
            raise AtomError(f"{atom.mnemonic} expected no {name}=")
    own = {name: value for name, value in operands.items() if name in known}
    return run(atom, inputs(**own), arch, numerics)
