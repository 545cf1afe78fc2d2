"""The operands of instructions that have shapes, in PTX's order: of MMAs, and of what loads and
stores their fragments."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import TmemAccess
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import UmmaMnemonic
from tilewright.dialects.cute_nvgpu.atoms.wgmma import LEGAL_IMMEDIATES, WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess
from tilewright.dialects.cute_nvgpu.lattice.legal_integers import COUNTING
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address, Descriptor
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Constant,
    OperandForm,
    Predicate,
    Register,
    Selectors,
    Superfluous,
    Vector,
)
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS
from tilewright.dialects.cute_nvgpu.lattice.sm100 import (
    LANE_MASK_WORDS,
    LARGEST_INPUT_SCALE,
    SCALES_INPUT,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_LOAD, TmemAccessRow

Operands = tuple[OperandForm, ...]

_SPARSE_STORAGE = "9.7.14.6.1"
_SPARSE_WGMMA_STORAGE = "9.7.15.6.1"
_BLOCK_SCALING = "9.7.14.3"


def mma_operands(atom: MmaAtom) -> Operands:
    """The operands of an MMA of a warp. PTX ISA 9.7.14."""
    return tuple(_mma(atom))


def _mma(atom: MmaAtom) -> Iterator[OperandForm]:
    yield Vector("d", *atom.registers("D"), written=True)
    for operand in OPERANDS[:3]:
        yield Vector(operand.lower(), *atom.registers(operand))
    legal = iter([selector.legal for selector in atom.selectors])
    if "E" in atom.inputs:
        yield Register("e", section=_SPARSE_STORAGE, braces=True)
        yield Constant("sparsity selector", next(legal), section=_SPARSE_STORAGE)
    if "SFA" in atom.inputs:
        for side in ("a", "b"):
            yield Register(f"scale-{side}-data", section=_BLOCK_SCALING, braces=True)
            names = f"{{byte-id-{side}, thread-id-{side}}}"
            yield Selectors(names, (next(legal), next(legal)), section=_BLOCK_SCALING)


def wgmma_operands(atom: WgmmaAtom) -> Operands:
    """The operands of a wgmma, A where `frag_kind` says. PTX ISA 9.7.15."""
    return tuple(_wgmma(atom))


def _wgmma(atom: WgmmaAtom) -> Iterator[OperandForm]:
    yield Vector("d", *atom.registers("D"), written=True, updated=True)
    if atom.frag_kind == "rs":
        yield Vector("a", *atom.registers("A"))
    else:
        yield Descriptor("a-desc")
    yield Descriptor("b-desc")
    if atom.row.sparse:
        yield Register("sp-meta", section=_SPARSE_WGMMA_STORAGE, braces=True)
        yield Constant("sp-sel", atom.selectors[0].legal, section=_SPARSE_WGMMA_STORAGE)
    yield Predicate("scale-d")
    for name in atom.immediates:
        yield Constant(name, LEGAL_IMMEDIATES[name])


def umma_operands(said: UmmaMnemonic, place: UmmaFragmentKind, *, masked: bool) -> Operands:
    """The operands of a tcgen05.mma with A where `place` says; where `masked`, with lanes that are
    not written. PTX ISA, tcgen05.mma."""
    return tuple(_umma(said, place, masked))


def _umma(said: UmmaMnemonic, place: UmmaFragmentKind, masked: bool) -> Iterator[OperandForm]:
    row = said.rows[0]
    yield Address("d-tmem")
    yield Descriptor("a-desc") if place == "ss" else Address("a-tmem")
    yield Descriptor("b-desc")
    if row.sparse:
        yield Address("sp-meta-tmem")
    yield Choice("idesc", type_="x32")
    if masked:
        yield Vector("disable-output-lane", "b32", LANE_MASK_WORDS[said.cta_group])
    if row.scale is not None:
        yield Address("scale-A-tmem")
        yield Address("scale-B-tmem")
    yield Predicate("enable-input-d", loose=True)
    if row.scales_input:
        scales = tuple(range(LARGEST_INPUT_SCALE + 1))
        yield Constant("scale-input-d", scales, optional=True, target=SCALES_INPUT)
    elif row.kind == "i8" and not row.ws:
        yield Superfluous("scale-input-d", optional=True)
    if (row.scales_input or row.kind == "i8") and not row.ws and not masked:
        yield Superfluous("another operand", optional=True)
    if row.ws:
        yield Descriptor("zero-column-mask-desc", optional=True)


def matrix_copy_operands(copy: MatrixCopy) -> Operands:
    """The operands of ldmatrix and stmatrix. PTX ISA 9.7.14.5.15 and 9.7.14.5.16."""
    loads = copy.row.op == "ldmatrix"
    registers = Vector("r", "b32", copy.registers, written=loads)
    return (registers, Address("p")) if loads else (Address("p"), registers)


def wmma_access_operands(access: WmmaAccess) -> Operands:
    """The operands of wmma.load and wmma.store. PTX ISA 9.7.14.4.3 and 9.7.14.4.4."""
    loads = access.op == "wmma.load"
    registers = Vector("r", *access.row.registers, written=loads)
    stride = Choice("stride", type_="s32", optional=True)
    return (registers, Address("p"), stride) if loads else (Address("p"), registers, stride)


def tmem_access_operands(row: TmemAccessRow, access: TmemAccess) -> Operands:
    """The operands of tcgen05.ld and tcgen05.st."""
    registers = Vector("r", "b32", access.registers, written=row is TMEM_LOAD)
    address = (Address("taddr"), *_half(access))
    return (registers, *address) if row is TMEM_LOAD else (*address, registers)


def tmem_reduction_operands(access: TmemAccess) -> Operands:
    """The operands of tcgen05.ld.red."""
    registers = Vector("r", "b32", access.registers, written=True)
    return registers, Register("red"), Address("taddr"), *_half(access)


def _half(access: TmemAccess) -> Operands:
    return (Constant("immHalfSplitoff", COUNTING),) if access.shape.halves else ()
