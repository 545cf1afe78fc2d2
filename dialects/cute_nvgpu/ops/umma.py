"""What every `tcgen05.mma` has in common: where its operands are, and what the verifier asks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import Layout, equivalent
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute.types.memref import Space, SpaceAttr, layout_of
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import CHUNK, TCGEN05, MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.sm100 import (
    LANE_MASK_WORDS,
    LARGEST_INPUT_SCALE,
    SCALES_INPUT,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum
from tilewright.dialects.cute_nvgpu.ops.cta_group import CtaGroupOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_tmem
from tilewright.dialects.cute_nvgpu.ops.smem_desc import held_types
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType

Sources = dict[str, SSAValue]
"""The tensors that an MMA accesses: "D", "A", "B", "E", "SFA" and "SFB", as far as it has them."""


class UmmaOp(CtaGroupOp):
    """D = A * B + D in tensor memory, asynchronous, issued by one thread for a CTA or a pair.

    D, and A where `frag_kind = ts`, metadata and scale factors are tensors in tensor memory; A and
    B are matrices in shared memory. Where `enable_input_d` is false, D = A * B. The result may be
    loaded once a `tcgen05.commit` has arrived at an mbarrier. PTX ISA, tcgen05.mma.
    """

    @property
    def mma_atom(self) -> UmmaAtom:
        """The atom that it issues."""
        raise NotImplementedError

    @property
    def sources(self) -> Sources:
        """Its tensors by operand."""
        raise NotImplementedError

    @property
    def accumulates_if(self) -> SSAValue | None:
        """The predicate `enable_input_d`; None where it always accumulates."""
        return getattr(self, "enable_input_d")  # noqa: B009

    @property
    def lane_mask(self) -> Sequence[SSAValue]:
        """The words of `disable_output_lane`; none where every lane is written."""
        return getattr(self, "disable_output_lane", ())

    @property
    def input_scale(self) -> int:
        """D is multiplied by 2 to minus this first."""
        found = self.properties.get("scale_input_d")
        return found.value.data if isinstance(found, IntegerAttr) else 0

    @property
    def negated(self) -> tuple[bool, bool]:
        """Whether A and B are negated."""
        return "negate_a" in self.properties, "negate_b" in self.properties

    @property
    def shifts_a(self) -> bool:
        """Whether the rows of A move up by one, but the last."""
        return "ashift" in self.properties

    @property
    def collector_usage(self) -> str | None:
        """What becomes of the collector's buffer, `a::fill`."""
        found = self.properties.get("collector")
        return found.data if isinstance(found, StringAttr) else None

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

    @property
    def required(self) -> Minimum:
        """What runs it."""
        return SCALES_INPUT if self.input_scale else self.mma_atom.row.target

    @property
    def instruction_descriptor(self) -> InstructionDescriptor:
        """Its instruction descriptor. Raises AtomError or DescriptorError where there is none."""
        return self.mma_atom.descriptor(
            negated=self.negated,
            selector=self._number("selector"),
            sfa_id=self._number("sfa_id"),
            sfb_id=self._number("sfb_id"),
        )

    def _number(self, name: str) -> int:
        found = self.properties.get(name)
        return found.value.data if isinstance(found, IntegerAttr) else 0

    def verify_(self) -> None:
        self.verify_group()
        self._verify_scale_types()
        atom = self.mma_atom
        for operand, value in self.sources.items():
            if operand in atom.tmem_operands:
                _verify_tensor(self.name, atom, operand, value.type)
            else:
                _verify_matrix(self.name, atom, operand, value.type)
        if any(self.negated) and not atom.row.negates:
            raise VerifyException(
                f"'{self.name}' expected no negate_a or negate_b, got one (only floating-point "
                f"multiplicands are negated; {atom.mnemonic})"
            )
        try:
            _ = self.mnemonic
            _ = self.instruction_descriptor
        except (AtomError, DescriptorError) as error:
            raise VerifyException(f"'{self.name}' {error}") from None
        self._verify_modifiers()

    def _verify_scale_types(self) -> None:
        """Both scale factors of one type comes before which type it is."""
        if "SFA" not in self.sources:
            return
        sfa, sfb = (
            getattr(self.sources[each].type, "element_type", None) for each in ("SFA", "SFB")
        )
        if sfa != sfb:
            raise VerifyException(
                f"'{self.name}' expects sfa/sfb element types to be the same, got {sfa} and {sfb}; "
                f"nearest legal: {self.mma_atom.element('SFA').mlir}"
            )

    def _verify_modifiers(self) -> None:
        atom, scale = self.mma_atom, self.properties.get("scale_input_d")
        if isinstance(scale, IntegerAttr):
            self._verify_input_scale(scale.value.data)
        if self.shifts_a and atom.frag_kind != "ts":
            raise VerifyException(
                f"'{self.name}' expected an A in tensor memory to shift, got frag_kind = "
                f"{atom.frag_kind} (PTX ISA, tcgen05.mma); nearest legal: no ashift"
            )
        if self.shifts_a and atom.m // atom.cta_group != 128:
            raise VerifyException(
                f"'{self.name}' expected M of {128 * atom.cta_group} to shift A, got {atom.m} "
                "(PTX ISA, tcgen05.mma); nearest legal: no ashift"
            )
        words = LANE_MASK_WORDS[atom.cta_group]
        if len(self.lane_mask) not in (0, words):
            raise VerifyException(
                f"'{self.name}' expected {words} words of lanes not to write with cta_group "
                f"{atom.cta_group}, got {len(self.lane_mask)}"
            )

    def _verify_input_scale(self, value: int) -> None:
        if not self.mma_atom.row.scales_input:
            raise VerifyException(
                f"'{self.name}' expected no scale_input_d, got {value} (kind::f16 and kind::tf32 "
                f"alone scale D; {self.mma_atom.mnemonic})"
            )
        if not 0 <= value <= LARGEST_INPUT_SCALE:
            nearest = min(max(value, 0), LARGEST_INPUT_SCALE)
            raise VerifyException(
                f"'{self.name}' expected scale_input_d of 0 to {LARGEST_INPUT_SCALE}, got {value}; "
                f"nearest legal: {nearest} (PTX ISA, tcgen05.mma)"
            )


def flags(**named: bool) -> dict[str, Attribute]:
    """The properties of those that are set."""
    return {name: UnitAttr() for name, there in named.items() if there}


def numbers(**named: int | None) -> dict[str, Attribute]:
    """The properties of those that are given."""
    return {name: IntegerAttr(value, i64) for name, value in named.items() if value is not None}


def words(**named: str | None) -> dict[str, Attribute]:
    """The properties of those that are given."""
    return {name: StringAttr(value) for name, value in named.items() if value is not None}


def tensor_type(atom: UmmaAtom, operand: str) -> str:
    """The memref that an operand in tensor memory wants, one CTA's part of it."""
    layout = atom.cta_layout(operand)
    element = tensor_elements(atom.element(operand))[0]
    rows, columns = (layout.mode(mode).size() for mode in (0, 1))
    return f"memref<{rows}x{columns}x{element}, {LayoutType.get(layout)}, {SpaceAttr(Space.TMEM)}>"


def tensor_elements(element: ElementType) -> tuple[str, ...]:
    """What a memref in tensor memory may be made of to hold these elements: what is narrower than
    its byte has no type of its own there."""
    others = held_types(element)
    return others if element.padded else (element.mlir, *others)


def _verify_tensor(op: str, atom: UmmaAtom, operand: str, type_: Attribute) -> None:
    """Raise VerifyException unless the type is the atom's operand in tensor memory."""
    what = f"operand {operand}"
    held = verify_tmem(op, what, type_, 2)
    legal = tensor_type(atom, operand)
    layout, found = atom.cta_layout(operand), layout_of(held)
    elements = tensor_elements(atom.element(operand))
    if str(held.element_type) not in elements:
        raise VerifyException(
            f"'{op}' {what} expected elements of {' or '.join(elements)}, got {held} "
            f"({atom.mnemonic}: {atom.element(operand).mlir}); nearest legal: {legal}"
        )
    shape = tuple(layout.mode(mode).size() for mode in (0, 1))
    same = isinstance(found, Layout) and held.get_shape() == shape and equivalent(found, layout)
    if not same:
        raise VerifyException(
            f"'{op}' {what} expected layout {layout}, got {held} ({atom.mnemonic}, M = {atom.m}, "
            f"data path {atom.path.letter}); nearest legal: {legal}"
        )


def _verify_matrix(op: str, atom: UmmaAtom, operand: str, type_: Attribute) -> None:
    """Raise VerifyException unless the type is the atom's matrix in shared memory."""
    where, element = f"'{op}' operand {operand}", atom.element(operand)
    rows, columns = atom.shared_extents(operand)
    unpacked = ", unpacked" if element.padded and element.width == 4 else ""
    spelled = f"{rows}x{columns}x{element.mlir}{unpacked}"
    legal = f"!cute_nvgpu.smem_desc_view<{spelled}, {TCGEN05.name}, ...>"
    if not isinstance(type_, SmemDescViewType):
        raise VerifyException(
            f"{where} expected a matrix in shared memory, got {type_} "
            f"(frag_kind = {atom.frag_kind}); nearest legal: {legal}"
        )
    if type_.format is not TCGEN05:
        raise VerifyException(
            f"{where} expected a descriptor of {TCGEN05.name}, got one of {type_.format.name} "
            f"({atom.mnemonic}); nearest legal: {legal}"
        )
    if type_.element is not element or type_.extents != (rows, columns):
        raise VerifyException(
            f"{where} expected {spelled}, got {type_.elements} ({atom.mnemonic}, cta_group "
            f"{atom.cta_group}); nearest legal: {legal}"
        )
    _verify_major(where, type_, atom.majors["AB".index(operand)], element)


def _verify_major(
    where: str, type_: SmemDescViewType, major: MajorMode, element: ElementType
) -> None:
    found = type_.tile.major
    if found != major:
        raise VerifyException(
            f"{where} expected {'an MN' if major == 'mn' else 'a K'}-major matrix, as ab_major "
            f"says, got {found.upper()}-major layout {type_.layout.data}; nearest legal: ab_major "
            f"= {found} (PTX ISA, tcgen05 major-ness)"
        )
    # An MN-major tf32 lies in atoms of 32 bytes, and nothing else does.
    coarse = major == "mn" and element.bits == 32
    if (type_.tile.swizzle_atom != CHUNK) != coarse:
        wanted = "128 bytes in atoms of 32" if coarse else "none, 32, 64 or 128 bytes"
        raise VerifyException(
            f"{where} expected a swizzle of {wanted} for {major.upper()}-major {element.name}, got "
            f"layout {type_.layout.data} (PTX ISA, tcgen05 major-ness)"
        )
