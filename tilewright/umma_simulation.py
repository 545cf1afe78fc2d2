"""`tilewright.simulate` of `tcgen05.mma`: from images of shared memory and tensor memory to tensor
memory after."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.dialects.cute_nvgpu.atom import AtomError
from tilewright.dialects.cute_nvgpu.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS, LANES
from tilewright.dialects.cute_nvgpu.ops.umma import LANE_MASK_WORDS, LARGEST_INPUT_SCALE
from tilewright.dialects.cute_nvgpu.smem_descriptor import CHUNK
from tilewright.dialects.cute_nvgpu.umma_atom import UmmaAtom
from tilewright.dialects.cute_nvgpu.umma_lookup import umma_of
from tilewright.dialects.cute_nvgpu.zero_column_mask import ZeroColumnMask
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics import Model
from tilewright.lowering.interpreter.umma import (
    Cells,
    UmmaOptions,
    lanes_of_words,
    matrix_addresses,
    matrix_of_chunks,
    multiply,
    read_tensor,
    umma_model,
    write_accumulator,
)


class UmmaOperands(TypedDict, total=False):
    """The operands of `tcgen05.mma` that no other atom has, under PTX's names; see `simulate`."""

    tmem: ArrayLike
    d_tmem: int
    a_tmem: int | None
    sp_meta_tmem: int | None
    scale_a_tmem: int | None
    scale_b_tmem: int | None
    idesc: int | None
    enable_input_d: bool
    scale_input_d: int
    disable_output_lane: ArrayLike | None
    zero_column_mask_desc: int | None


@dataclass(frozen=True, slots=True)
class _Issue:
    """One MMA as it is given: descriptors and addresses are the same in every batch."""

    atom: UmmaAtom
    model: Model | Literal["exact"]
    options: UmmaOptions
    a_desc: int | None
    b_desc: int
    addresses: dict[str, int]
    kept_lanes: NDArray[np.bool_] | None


def simulate_umma(
    atom: UmmaAtom,
    smem: ArrayLike | None,
    descriptors: tuple[ArrayLike | None, ArrayLike | None],
    given: UmmaOperands,
    arch: str,
    numerics: str,
) -> NDArray[np.uint32]:
    """Tensor memory after D = A * B + D. Raises AtomError for inputs that the atom has not."""
    atom.check(arch)
    issue = _issue(atom, descriptors, given, umma_model(atom, arch, numerics))
    ctas = (atom.cta_group,) if atom.cta_group > 1 else ()
    tmem = np.array(given.get("tmem"))
    wanted = (*ctas, LANES, COLUMNS)
    if tmem.dtype != np.uint32 or tmem.shape[-len(wanted) :] != wanted:
        raise AtomError(
            f"{atom.mnemonic} expected tmem= of uint32 [..., {', '.join(map(str, wanted))}], got "
            f"{tmem.dtype} {list(tmem.shape)}"
        )
    batch = tmem.shape[: -len(wanted)]
    cells = tmem.reshape(prod(batch), atom.cta_group, LANES, COLUMNS)
    images = _images(atom, smem, batch, ctas)
    try:
        for place, each in enumerate(cells):
            _run(issue, each, images[min(place, len(images) - 1)])
    except (Fault, DescriptorError) as error:
        raise AtomError(str(error)) from None
    return cells.reshape(tmem.shape)


def _issue(
    atom: UmmaAtom,
    descriptors: tuple[ArrayLike | None, ArrayLike | None],
    given: UmmaOperands,
    model: Model | Literal["exact"],
) -> _Issue:
    held = _descriptor(atom, given.get("idesc"))
    a_desc, b_desc = (None if each is None else int(np.asarray(each)) for each in descriptors)
    addresses = _addresses(atom, given)
    if (a_desc is None) == (atom.frag_kind == "ss") or b_desc is None:
        where = "a_desc= and b_desc=" if atom.frag_kind == "ss" else "a_tmem= and b_desc="
        raise AtomError(f"{atom.mnemonic} expected {where} (frag_kind = {atom.frag_kind})")
    scale = given.get("scale_input_d", 0)
    if scale and not (atom.row.scales_input and 0 < scale <= LARGEST_INPUT_SCALE):
        raise AtomError(f"{atom.mnemonic} expected no scale_input_d={scale}")
    options = UmmaOptions(
        given.get("enable_input_d", True),
        (held.negate_a, held.negate_b),
        held.selector,
        held.sfa_id,
        held.sfb_id,
        scale,
        _zero_columns(atom, given.get("zero_column_mask_desc")),
    )
    return _Issue(atom, model, options, a_desc, b_desc, addresses, _kept_lanes(atom, given))


def _descriptor(atom: UmmaAtom, idesc: int | None) -> InstructionDescriptor:
    """The instruction descriptor, which must be of the atom."""
    if idesc is None:
        return atom.descriptor()
    try:
        said = umma_of(atom.mnemonic, idesc, atom.frag_kind)
    except DescriptorError as error:
        raise AtomError(f"idesc: {error}") from None
    held = InstructionDescriptor.decode(idesc, atom.row.kind)
    if said != atom:
        raise AtomError(
            f"{atom.mnemonic} expected an idesc of {atom.parameters}, got {idesc:#010x} "
            f"({said.parameters}); nearest legal: {atom.descriptor().encode():#010x}"
        )
    if held.max_shift:
        raise AtomError(f"{atom.mnemonic} with a maximum shift is not modelled, got {idesc:#010x}")
    return held


_NAMES = {"D": "d_tmem", "A": "a_tmem", "E": "sp_meta_tmem"} | {
    "SFA": "scale_a_tmem",
    "SFB": "scale_b_tmem",
}


def _addresses(atom: UmmaAtom, given: UmmaOperands) -> dict[str, int]:
    """The address of every operand in tensor memory."""
    found: dict[str, int] = {}
    for operand, name in _NAMES.items():
        value: Any = given.get(name)
        if (value is None) == (operand in atom.tmem_operands):
            expected = "an" if value is None else "no"
            raise AtomError(f"{atom.mnemonic} expected {expected} address {name}=")
        if value is not None:
            found[operand] = int(value)
    return found


def _zero_columns(atom: UmmaAtom, word: int | None) -> NDArray[np.bool_] | None:
    if word is None:
        return None
    if not atom.row.ws:
        raise AtomError(f"{atom.mnemonic} expected no zero_column_mask_desc=")
    try:
        return zero_columns(atom, word)
    except (Fault, DescriptorError) as error:
        raise AtomError(str(error)) from None


def zero_columns(atom: UmmaAtom, word: int) -> NDArray[np.bool_]:
    """The columns of B that a zero-column mask descriptor makes zeros: [N]. Raises DescriptorError
    for a word that is none, Fault for a column shift."""
    mask = ZeroColumnMask.decode(word)
    mask.check(atom.m)
    if mask.shift:
        raise Fault(f"a column shift of {mask.shift} is not modelled (no source says what it does)")
    return np.array(mask.zeros(atom.m, atom.n), dtype=np.bool_)


def _kept_lanes(atom: UmmaAtom, given: UmmaOperands) -> NDArray[np.bool_] | None:
    words = given.get("disable_output_lane")
    if words is None:
        return None
    count = LANE_MASK_WORDS[atom.cta_group]
    array = np.asarray(words, dtype=np.uint32)
    if array.shape != (count,) or atom.row.ws or atom.row.scale is not None:
        legal = "no" if atom.row.ws or atom.row.scale is not None else f"{count} words of"
        raise AtomError(f"{atom.mnemonic} expected {legal} disable_output_lane=")
    return lanes_of_words(array.tolist())


def _images(
    atom: UmmaAtom, smem: ArrayLike | None, batch: tuple[int, ...], ctas: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Shared memory: uint8 [batch or 1, CTAs, bytes]."""
    image = np.asarray(smem)
    if image.dtype != np.uint8 or image.shape[:-1] not in (ctas, (*batch, *ctas)):
        wanted = ", ".join(map(str, (*ctas, "bytes")))
        raise AtomError(
            f"{atom.mnemonic} expected smem= of uint8 [{wanted}], with batch axes or without, got "
            f"{image.dtype} {list(image.shape)}"
        )
    return image.reshape(-1, atom.cta_group, image.shape[-1])


def _run(issue: _Issue, cells: Cells, images: NDArray[np.uint8]) -> None:
    """Compute every CTA's part of D: cells [CTAs, lanes, columns], images [CTAs, bytes]."""
    atom = issue.atom
    b = np.concatenate([_matrix(atom, "B", issue.b_desc, each) for each in images])
    found = [_part(issue, cta, cells[cta], images[cta], b) for cta in range(atom.cta_group)]
    for cta, d in enumerate(found):
        kept = issue.kept_lanes
        lanes = None if kept is None else kept[cta * LANES : (cta + 1) * LANES]
        options = UmmaOptions(kept_lanes=lanes)
        write_accumulator(atom, d, cells[cta], issue.addresses["D"], options)


def _part(
    issue: _Issue, cta: int, cells: Cells, image: NDArray[np.uint8], b: NDArray[Any]
) -> NDArray[Any]:
    atom, options = issue.atom, issue.options

    def tensor(operand: str, first: int = 0) -> NDArray[Any]:
        return read_tensor(atom, operand, cells, issue.addresses[operand], first)

    a = tensor("A") if issue.a_desc is None else _matrix(atom, "A", issue.a_desc, image)
    scales = None
    if atom.row.scale is not None:
        scales = tensor("SFA", options.sfa_id), tensor("SFB", options.sfb_id)
    return multiply(
        atom,
        a,
        b,
        tensor("D") if options.accumulate else None,
        issue.model,
        options,
        e=tensor("E", options.selector) if atom.row.sparse else None,
        scales=scales,
    )


def _matrix(
    atom: UmmaAtom, operand: Literal["A", "B"], word: int, image: NDArray[np.uint8]
) -> NDArray[Any]:
    addresses = matrix_addresses(atom, operand, word)
    if (end := int(addresses.max()) + CHUNK) > image.size:
        raise AtomError(
            f"descriptor {word:#018x} of {operand} expected {end} bytes of shared memory, "
            f"got smem of {image.size}"
        )
    return matrix_of_chunks(atom, operand, image[addresses[..., None] + np.arange(CHUNK)])
