"""The base of every `tcgen05.mma`: where its operands are, and what the verifier asks."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import MemRefType, StringAttr, UnitAttr, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def

from tilewright.dialects.cute import Layout, equivalent
from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute.types.memref import Space, SpaceAttr, layout_of
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.sm100 import (
    LANE_MASK_WORDS,
    LARGEST_INPUT_SCALE,
    SCALES_INPUT,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.ops.cta_group import CtaGroupOp
from tilewright.dialects.cute_nvgpu.ops.instruction import AtomOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_matrix, verify_tmem
from tilewright.dialects.cute_nvgpu.ops.smem_desc import stored_types
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UMMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.fields import Field
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.integers import integer_of

_SPELLED = {"E": "$e `[` $selector `]`"} | {
    name: f"${name.lower()} `[` ${name.lower()}_id `]`" for name in ("SFA", "SFB")
}
"""The tensors with what stands in brackets behind them."""


IDS: dict[Operand, str] = {"E": "selector", "SFA": "sfa_id", "SFB": "sfb_id"}
"""The properties that hold what stands there."""


def umma_format(tensors: Sequence[str], form: str = "", shift: str = "") -> str:
    """The text of an op on these tensors: `form` is what it has behind the predicate."""
    inputs = " `,` ".join(_SPELLED.get(name, f"${name.lower()}") for name in tensors)
    types = " `,` ".join(f"type(${name.lower()})" for name in tensors)
    return (
        f"{inputs} (`enable_input_d` $enable_input_d^)? (`idesc` $idesc^)?{form}"
        f" (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?{shift} (`collector` $collector^)?"
        f" $atom attr-dict `:` {types}"
    )


class UmmaOp(CtaGroupOp, AtomOp):
    """D = A * B + D in tensor memory, asynchronous, issued by one thread for a CTA or a pair.

    D, and A where `frag_kind = ts`, metadata and scale factors are tensors in tensor memory; A and
    B are matrices in shared memory. Where `enable_input_d` is false, D = A * B. The result may be
    loaded once a `tcgen05.commit` has arrived at an mbarrier. `idesc` is its instruction descriptor
    where scale factor ids, or the sparsity selector, are known when it runs alone: those of the op
    are 0 then, and all else is as the atom says. PTX ISA, tcgen05.mma.
    """

    TENSORS: ClassVar[tuple[str, ...]]
    """The tensors that it accesses; each is the operand of that name in lower case."""

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    enable_input_d = opt_operand_def(i1)
    idesc = opt_operand_def(i32)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    def __init__(self, tensors: Sequence[SSAValue], atom: UmmaAtom, **modifiers: Field):
        """The MMA of tensors in the order of `TENSORS`; ids and selectors left out are 0."""
        fields: dict[str, Field] = {
            **{name.lower(): value for name, value in zip(self.TENSORS, tensors, strict=True)},
            **dict.fromkeys((IDS[name] for name in self.TENSORS if name in IDS), 0),
            **modifiers,
        }
        super().__init__(atom=UMMA_ATOM_TYPES[atom.op](atom), **fields)

    @property
    def mma_atom(self) -> UmmaAtom:
        """The atom that it issues."""
        return self.issued

    @property
    def sources(self) -> dict[str, SSAValue]:
        """Its tensors by operand."""
        return {name: getattr(self, name.lower()) for name in self.TENSORS}

    @property
    def accumulates_if(self) -> SSAValue | None:
        """The predicate `enable_input_d`; None where it always accumulates."""
        return self.enable_input_d

    @property
    def lane_mask(self) -> Sequence[SSAValue]:
        """The words of `disable_output_lane`; none where every lane is written."""
        return getattr(self, "disable_output_lane", ())

    @property
    def input_scale(self) -> int:
        """D is multiplied by 2 to minus this first."""
        return self._number("scale_input_d")

    @property
    def negated(self) -> tuple[bool, bool]:
        """(A is negated, B is negated)."""
        return self.negate_a is not None, self.negate_b is not None

    @property
    def shifts_a(self) -> bool:
        """True where the rows of A move up by one, but the last."""
        return "ashift" in self.properties

    @property
    def collector_usage(self) -> str | None:
        """The use of the collector's buffer, `a::fill`."""
        return None if self.collector is None else self.collector.data

    @property
    def zero_columns(self) -> SSAValue | None:
        """The zero-column mask descriptor of the weight-stationary form."""
        return getattr(self, "zero_column_mask", None)

    @property
    def group(self) -> int:
        return self.mma_atom.cta_group

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic. Raises AtomError where there is none such."""
        return self.mma_atom.spelled(ashift=self.shifts_a, collector=self.collector_usage)

    def spelled(self) -> str:
        return self.mnemonic

    def requirement(self) -> Requirement:
        plain = super().requirement()
        return Requirement(SCALES_INPUT, plain.version) if self.input_scale else plain

    @property
    def instruction_descriptor(self) -> InstructionDescriptor:
        """Its instruction descriptor. Raises AtomError or DescriptorError where there is none."""
        return self.mma_atom.descriptor(
            negated=self.negated,
            selector=self._number("selector"),
            sfa_id=self._number("sfa_id"),
            sfb_id=self._number("sfb_id"),
        )

    def described(self, word: int) -> InstructionDescriptor:
        """The instruction descriptor that `idesc` is. Raises AtomError or DescriptorError where it
        is not the atom's."""
        descriptor = InstructionDescriptor.decode(word, self.row.kind)
        ids = {name: getattr(descriptor, name) for name in IDS.values()}
        own = self.mma_atom.descriptor(negated=self.negated, **ids)
        if own != descriptor:
            raise DescriptorError(
                f"expected an instruction descriptor of {self.mma_atom}, got {word:#010x}; nearest "
                f"legal: {own.encode():#010x}"
            )
        return descriptor

    def _number(self, name: str) -> int:
        return integer_of(self.properties.get(name), 0)

    def verify_(self) -> None:
        self.verify_group()
        self._verify_scale_types()
        atom = self.mma_atom
        for operand, value in self.sources.items():
            if operand in atom.tmem_operands:
                _verify_tensor(atom, operand, value.type)
            else:
                verify_matrix(atom, operand, value.type)
        if any(self.negated) and not atom.row.negates:
            raise self.fail(
                "no negate_a or negate_b, got one (only floating-point multiplicands are negated; "
                f"{atom.mnemonic})"
            )
        _ = self.mnemonic
        _ = self.instruction_descriptor
        if self.idesc is not None and any(map(self._number, IDS.values())):
            raise self.fail("ids of 0 beside idesc, which has them")
        self._verify_modifiers()

    def _verify_scale_types(self) -> None:
        """Both scale factors of one type comes before which type it is."""
        if "SFA" not in self.TENSORS:
            return
        sfa, sfb = (
            getattr(self.sources[name].type, "element_type", None) for name in ("SFA", "SFB")
        )
        if sfa != sfb:
            raise Illegal(
                f"expects sfa/sfb element types to be the same, got {sfa} and {sfb}; "
                f"nearest legal: {self.mma_atom.element('SFA').mlir}"
            )

    def _verify_modifiers(self) -> None:
        atom = self.mma_atom
        if "scale_input_d" in self.properties:
            self._verify_input_scale(self.input_scale)
        if self.shifts_a and atom.frag_kind != "ts":
            raise self.fail(
                f"an A in tensor memory to shift, got frag_kind = {atom.frag_kind} (PTX ISA, "
                "tcgen05.mma); nearest legal: no ashift"
            )
        if self.shifts_a and atom.m // atom.cta_group != 128:
            raise self.fail(
                f"M of {128 * atom.cta_group} to shift A, got {atom.m} (PTX ISA, tcgen05.mma); "
                "nearest legal: no ashift"
            )
        words = LANE_MASK_WORDS[atom.cta_group]
        if len(self.lane_mask) not in (0, words):
            raise self.fail(
                f"{words} words of lanes not to write with cta_group {atom.cta_group}, got "
                f"{len(self.lane_mask)}"
            )

    def _verify_input_scale(self, value: int) -> None:
        if not self.mma_atom.row.scales_input:
            raise self.fail(
                f"no scale_input_d, got {value} (kind::f16 and kind::tf32 alone scale D; "
                f"{self.mma_atom.mnemonic})"
            )
        legal = range(LARGEST_INPUT_SCALE + 1)
        if value not in legal:
            raise self.fail(
                f"scale_input_d of 0 to {LARGEST_INPUT_SCALE}, got {value}; nearest legal: "
                f"{closest(value, legal)} (PTX ISA, tcgen05.mma)"
            )


def tensor_type(atom: UmmaAtom, operand: str) -> str:
    """The memref that an operand in tensor memory wants, one CTA's part of it."""
    layout = atom.cta_layout(operand)
    element = tensor_elements(atom.element(operand))[0]
    rows, columns = (layout.mode(mode).size() for mode in (0, 1))
    return f"memref<{rows}x{columns}x{element}, {LayoutType.get(layout)}, {SpaceAttr(Space.TMEM)}>"


def tensor_elements(element: ElementType) -> tuple[str, ...]:
    """The types of a memref in tensor memory that holds these elements: what is narrower than its
    byte has no type of its own there."""
    others = stored_types(element)
    return others if element.padded else (element.mlir, *others)


def _verify_tensor(atom: UmmaAtom, operand: str, type_: Attribute) -> None:
    """Raise Illegal unless the type is the atom's operand in tensor memory."""
    what = f"operand {operand}"
    tensor = verify_tmem(what, type_, 2)
    legal = tensor_type(atom, operand)
    layout, declared = atom.cta_layout(operand), layout_of(tensor)
    elements = tensor_elements(atom.element(operand))
    if str(tensor.element_type) not in elements:
        raise Illegal(
            f"{what} expected elements of {' or '.join(elements)}, got {tensor} "
            f"({atom.mnemonic}: {atom.element(operand).mlir}); nearest legal: {legal}"
        )
    same_shape = tensor.get_shape() == tuple(layout.mode(mode).size() for mode in (0, 1))
    if not (same_shape and isinstance(declared, Layout) and equivalent(declared, layout)):
        raise Illegal(
            f"{what} expected layout {layout}, got {tensor} ({atom.mnemonic}, M = {atom.m}, "
            f"data path {atom.path.letter}); nearest legal: {legal}"
        )
