"""`tilewright.simulate` of `tcgen05.mma`: from images of shared memory and tensor memory to tensor
memory after."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import umma_of
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import CHUNK
from tilewright.dialects.cute_nvgpu.lattice.sm100 import LANE_MASK_WORDS, LARGEST_INPUT_SCALE
from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS, LANE_STRIDE, LANES
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import listed, told
from tilewright.lowering.interpreter.arithmetic.umma import options_of, umma_model
from tilewright.lowering.interpreter.arithmetic.umma_issue import UmmaIssue
from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array, UInt32Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics.models import AnyModel


@frozen
class UmmaInputs:
    """The operands of one `tcgen05.mma`, as `tilewright.simulate` takes them."""

    smem: ArrayLike | None = None
    tmem: ArrayLike | None = None
    a_desc: ArrayLike | None = None
    b_desc: ArrayLike | None = None
    d_tmem: int | None = None
    a_tmem: int | None = None
    sp_meta_tmem: int | None = None
    scale_a_tmem: int | None = None
    scale_b_tmem: int | None = None
    idesc: int | None = None
    enable_input_d: bool = True
    scale_input_d: int = 0
    disable_output_lane: ArrayLike | None = None
    zero_column_mask_desc: int | None = None


@frozen
class _Images:
    """Images of shared memory, [CTAs, bytes], and of tensor memory, [CTAs, lanes, columns]."""

    smem: UInt8Array
    tmem: UInt32Array

    def chunks(self, rank: int, addresses: Int64Array) -> UInt8Array:
        if (end := int(addresses.max()) + CHUNK) > self.smem.shape[-1]:
            raise Fault(
                f"a descriptor expected {end} bytes of shared memory, got smem of "
                f"{self.smem.shape[-1]}"
            )
        return self.smem[rank, addresses[..., None] + np.arange(CHUNK)]

    def read(self, rank: int, addresses: Int64Array) -> UInt32Array:
        return self.tmem[rank, *_cells(addresses)]

    accumulate = read

    def write(self, rank: int, addresses: Int64Array, words: UInt32Array) -> None:
        self.tmem[rank, *_cells(addresses)] = words


def _cells(addresses: Int64Array) -> tuple[Int64Array, Int64Array]:
    """The lanes and columns at these addresses. Raises Fault out of bounds."""
    lanes, columns = np.divmod(addresses, LANE_STRIDE)
    outside = (lanes >= LANES) | (columns >= COLUMNS) | (addresses < 0)
    if outside.any():
        at = int(np.argmax(outside))
        raise Fault(
            f"lane {lanes.flat[at]} and column {columns.flat[at]} expected within {LANES} lanes "
            f"of {COLUMNS} columns of tensor memory"
        )
    return lanes, columns


def simulate_umma(atom: UmmaAtom, given: UmmaInputs, arch: str, numerics: str) -> UInt32Array:
    """Tensor memory after D = A * B + D. Raises AtomError for inputs that the atom has not."""
    atom.check(arch)
    issue = _issue(atom, given, umma_model(atom, arch, numerics))
    ctas = (atom.cta_group,) if atom.cta_group > 1 else ()
    tmem = np.array(given.tmem)
    wanted = (*ctas, LANES, COLUMNS)
    if tmem.dtype != np.uint32 or tmem.shape[-len(wanted) :] != wanted:
        raise AtomError(
            f"{atom.mnemonic} expected tmem= of uint32 [..., {', '.join(map(str, wanted))}], got "
            f"{tmem.dtype} {list(tmem.shape)}"
        )
    batch = tmem.shape[: -len(wanted)]
    cells = tmem.reshape(prod(batch), atom.cta_group, LANES, COLUMNS)
    images = _images(atom, given.smem, batch, ctas)
    try:
        for place, cell in enumerate(cells):
            issue.run(_Images(images[min(place, len(images) - 1)], cell))
    except (Fault, DescriptorError) as error:
        raise AtomError(f"{atom.mnemonic}: {error}") from None
    return cells.reshape(tmem.shape)


def _issue(atom: UmmaAtom, given: UmmaInputs, model: AnyModel) -> UmmaIssue:
    descriptor = _descriptor(atom, given.idesc)
    a_desc, b_desc = (_word(atom, name, getattr(given, name)) for name in ("a_desc", "b_desc"))
    addresses = _addresses(atom, given)
    if (a_desc is None) == (atom.frag_kind == "ss") or b_desc is None:
        where = "a_desc= and b_desc=" if atom.frag_kind == "ss" else "a_tmem= and b_desc="
        raise AtomError(f"{atom.mnemonic} expected {where} (frag_kind = {atom.frag_kind})")
    scale = given.scale_input_d
    if scale and not (atom.row.scales_input and 0 < scale <= LARGEST_INPUT_SCALE):
        raise AtomError(f"{atom.mnemonic} expected no scale_input_d={scale}")
    mask = given.zero_column_mask_desc
    if mask is not None and not atom.row.ws:
        raise AtomError(f"{atom.mnemonic} expected no zero_column_mask_desc=")
    try:
        options = options_of(
            atom,
            descriptor,
            accumulate=given.enable_input_d,
            input_scale=scale,
            zero_column_mask=mask,
            lane_words=_lane_words(atom, given),
        )
    except (Fault, DescriptorError) as error:
        raise AtomError(f"{atom.mnemonic}: {error}") from None
    return UmmaIssue(atom, model, options, a_desc, b_desc, addresses)


def _word(atom: UmmaAtom, name: str, given: Any) -> int | None:
    word = np.asarray(given)
    if given is None:
        return None
    if word.dtype.kind not in "iu" or word.ndim or word < 0:
        raise AtomError(f"{atom.mnemonic} expected {name} of 64 bits, got {told(given)}")
    return int(word)


def _descriptor(atom: UmmaAtom, idesc: int | None) -> InstructionDescriptor:
    """The instruction descriptor, which must be of the atom."""
    if idesc is None:
        return atom.descriptor()
    try:
        said = umma_of(atom.mnemonic, idesc, atom.frag_kind)
    except DescriptorError as error:
        raise AtomError(f"idesc: {error}") from None
    descriptor = InstructionDescriptor.decode(idesc, atom.row.kind)
    if said != atom:
        raise AtomError(
            f"{atom.mnemonic} expected an idesc of {atom.parameters}, got {idesc:#010x} "
            f"({said.parameters}); nearest legal: {atom.descriptor().encode():#010x}"
        )
    return descriptor


_NAMES = {"D": "d_tmem", "A": "a_tmem", "E": "sp_meta_tmem"} | {
    "SFA": "scale_a_tmem",
    "SFB": "scale_b_tmem",
}


def _addresses(atom: UmmaAtom, given: UmmaInputs) -> dict[str, int]:
    """The address of every operand in tensor memory."""
    addresses: dict[str, int] = {}
    for operand, name in _NAMES.items():
        value: Any = getattr(given, name)
        if (value is None) == (operand in atom.tmem_operands):
            expected = "an" if value is None else "no"
            raise AtomError(f"{atom.mnemonic} expected {expected} address {name}=")
        if value is not None:
            addresses[operand] = int(value)
    return addresses


def _lane_words(atom: UmmaAtom, given: UmmaInputs) -> list[int] | None:
    words = given.disable_output_lane
    if words is None:
        return None
    count = LANE_MASK_WORDS[atom.cta_group]
    array = np.asarray(words)
    none = atom.row.ws or atom.row.scale is not None
    if none or array.dtype.kind not in "iu" or array.shape != (count,):
        legal = "no" if none else f"{count} words of"
        raise AtomError(f"{atom.mnemonic} expected {legal} disable_output_lane=")
    return array.astype(np.uint32).tolist()


def _images(
    atom: UmmaAtom, smem: ArrayLike | None, batch: tuple[int, ...], ctas: tuple[int, ...]
) -> UInt8Array:
    """Shared memory: uint8 [batch or 1, CTAs, bytes]."""
    image = np.asarray(smem)
    if (
        image.ndim == 0
        or image.dtype != np.uint8
        or image.shape[:-1] not in (ctas, (*batch, *ctas))
    ):
        wanted = listed((*ctas, "bytes"))
        raise AtomError(
            f"{atom.mnemonic} expected smem= of uint8 [{wanted}], with batch axes or without, got "
            f"{image.dtype} {list(image.shape)}"
        )
    return image.reshape(-1, atom.cta_group, image.shape[-1])
