"""`tilewright.simulate` of `wgmma`: matrices from descriptors and an image of shared memory."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import find_wgmma
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    MAJOR_MODES,
    DescriptorError,
)
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told
from tilewright.lowering.interpreter.arithmetic.wgmma import (
    fragment_matrix,
    multiply_matrices,
    read_matrix,
    wgmma_model,
)
from tilewright.lowering.interpreter.array_types import (
    AnyArray,
    Int64Array,
    UInt8Array,
    UInt32Array,
)
from tilewright.simulation.warp import fragment_elements


@frozen
class WarpgroupInputs:
    """The operands of one `wgmma`, as `tilewright.simulate` takes them."""

    c: ArrayLike | None = None
    smem: ArrayLike | None = None
    a: ArrayLike | None = None
    a_desc: ArrayLike | None = None
    b_desc: ArrayLike | None = None
    scale_d: ArrayLike = True
    imm_scale_a: int = 1
    imm_scale_b: int = 1
    imm_trans_a: int = 0
    imm_trans_b: int = 0
    metadata: ArrayLike | None = None
    selector: int = 0


def simulate_wgmma(
    atom: WgmmaAtom, given: WarpgroupInputs, arch: str, numerics: str
) -> UInt32Array:
    """D = A * B + C on raw words. Raises AtomError for inputs that the atom does not take."""
    if given.c is None:
        raise AtomError(f"{atom.mnemonic} expected an operand C (c=)")
    atom.check(arch)
    atom = _placed(atom, given)
    c, batch = fragment_elements(atom, "C", given.c, None)
    accumulates = _for_each("scale_d", given.scale_d, "biu", batch).astype(bool)
    c = np.where(accumulates[:, None, None], c, c.dtype.type(0))
    smem = _image(given.smem, batch)
    if given.a is not None:
        a = fragment_matrix(atom, fragment_elements(atom, "A", given.a, batch)[0])
    else:
        a = _matrices(atom, "A", given.a_desc, smem, batch)
    metadata = given.metadata
    d = multiply_matrices(
        atom,
        a,
        _matrices(atom, "B", given.b_desc, smem, batch),
        c,
        wgmma_model(atom, arch, numerics),
        negated=(given.imm_scale_a == -1, given.imm_scale_b == -1),
        e=None if metadata is None else fragment_elements(atom, "E", metadata, batch)[0],
        selector=given.selector,
    )
    return np.ascontiguousarray(d).view(np.uint32).reshape(*batch, atom.threads, -1)


def _placed(atom: WgmmaAtom, given: WarpgroupInputs) -> WgmmaAtom:
    """The atom with its operands where they are given."""
    if (given.a is None) == (given.a_desc is None):
        raise AtomError(f"{atom.mnemonic} expected A in registers (a=) or by descriptor (a_desc=)")
    if given.b_desc is None or given.smem is None:
        raise AtomError(f"{atom.mnemonic} expected b_desc= and the image of shared memory, smem=")
    for name, value, legal in (
        ("imm_scale_a", given.imm_scale_a, (1, -1) if atom.row.negates else (1,)),
        ("imm_scale_b", given.imm_scale_b, (1, -1) if atom.row.negates else (1,)),
        ("imm_trans_a", given.imm_trans_a, (0, 1)),
        ("imm_trans_b", given.imm_trans_b, (0, 1)),
    ):
        if value not in legal:
            raise AtomError(
                f"{atom.mnemonic} expected {name} {' or '.join(map(str, legal))}, got {value}"
            )
    if given.metadata is not None and not atom.row.sparse:
        raise AtomError(f"{atom.mnemonic} expected no metadata=")
    if atom.row.sparse:
        if given.metadata is None:
            raise AtomError(f"{atom.mnemonic} expected metadata=")
        atom.check_selectors((given.selector,))
    elif given.selector:
        raise AtomError(f"{atom.mnemonic} expected no selector=")
    return find_wgmma(
        atom.op,
        atom.shape,
        atom.types,
        majors=(MAJOR_MODES[given.imm_trans_a], MAJOR_MODES[given.imm_trans_b]),
        frag_kind="ss" if given.a is None else "rs",
        satfinite=atom.satfinite,
    )


def _for_each(name: str, given: Any, kinds: str, batch: tuple[int, ...]) -> AnyArray:
    """A number for each warpgroup, where one may stand for all. Raises AtomError."""
    numbers = np.asarray(given)
    if numbers.dtype.kind not in kinds or numbers.shape not in ((), batch) or (numbers < 0).any():
        raise AtomError(f"{name} expected a word, or one for each of {batch}, got {told(given)}")
    return np.broadcast_to(numbers, batch).reshape(-1)


def _image(smem: ArrayLike | None, batch: tuple[int, ...]) -> UInt8Array:
    """Shared memory by warpgroup: uint8 [warpgroups, bytes], or [1, bytes] for all."""
    image = np.asarray(smem)
    if image.ndim == 0 or image.dtype != np.uint8 or image.shape[:-1] not in ((), batch):
        raise AtomError(
            f"smem expected uint8 [bytes] or [{', '.join(map(str, (*batch, 'bytes')))}], "
            f"got {image.dtype} {list(image.shape)}"
        )
    return image.reshape(-1, image.shape[-1])


def _matrices(
    atom: WgmmaAtom,
    operand: Literal["A", "B"],
    words: ArrayLike | None,
    smem: UInt8Array,
    batch: tuple[int, ...],
) -> AnyArray:
    """The matrices of descriptors: [warpgroups, rows, columns]."""
    descriptors = _for_each(f"the descriptor of {operand}", words, "iu", batch)

    def matrix(word: int, image: UInt8Array) -> AnyArray:
        def read(addresses: Int64Array) -> UInt8Array:
            if (end := int(addresses.max()) + CHUNK) > image.size:
                raise AtomError(
                    f"descriptor {word:#018x} of {operand} expected {end} bytes of shared memory, "
                    f"got smem of {image.size}"
                )
            return image[addresses[..., None] + np.arange(CHUNK)]

        try:
            return read_matrix(atom, operand, word, read)
        except DescriptorError as error:
            raise AtomError(f"descriptor {word:#x} of {operand}: {error}") from None

    matrices = [
        matrix(int(word), smem[min(i, len(smem) - 1)]) for i, word in enumerate(descriptors)
    ]
    return np.stack(matrices)
