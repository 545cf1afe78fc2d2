"""The bases of the MMAs of one warp, whose operands all live in registers.

One base class for each list of operands: dense, sparse (with metadata), block-scaled (with scale
factors), and both at once.
"""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i16
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import NoMemoryEffect

from tilewright.dialects.cute import Layout, equivalent
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.traits import FragmentAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.ops.instruction import AtomOp, verify_holders
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import NUMBER
from tilewright.dialects.illegal import Illegal


class RegisterMmaOp(AtomOp):
    """D = A * B + C on the fragments of one warp.

    Every thread of the warp executes it together (`.sync.aligned`). Its operands are in the order
    of the atom's `inputs`, which is that of the bases of its class. PTX ISA 9.7.14.5.14.
    """

    d = result_def()

    traits = traits_def(NoMemoryEffect())

    CHIP_CHOOSES: ClassVar[bool | None] = False
    SELECTORS: ClassVar[tuple[str, ...]] = ()
    """The properties that hold the atom's selectors, in their order."""
    IDS: ClassVar[tuple[str, ...]] = ()
    """The last of them, where values may be given instead."""

    @property
    def mma_atom(self) -> MmaAtom:
        """The atom that it issues."""
        return self.issued

    @property
    def inputs(self) -> Sequence[SSAValue]:
        """The operands in the order of the atom's `inputs`."""
        return self.operands[: len(self.mma_atom.inputs)]

    @property
    def selectors(self) -> tuple[int | SSAValue, ...]:
        """The atom's selectors: numbers, or values of `i16`."""
        numbers = (self.properties.get(name) for name in self.SELECTORS)
        known = [number.value.data for number in numbers if isinstance(number, IntegerAttr)]
        return (*known, *self.operands[len(self.inputs) :])

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        atom: MmaAtom,
        selectors: Sequence[int | SSAValue] = (),
        result_type: Attribute | None = None,
    ):
        """The MMA of operands in the order of the atom's `inputs`; selectors left out are 0."""
        numbers = selectors or (0,) * len(self.SELECTORS)
        ids = [number for number in numbers if isinstance(number, SSAValue)]
        numbers = numbers[: len(numbers) - len(ids)]
        super().__init__(
            *inputs,
            *([ids] if self.IDS else []),
            inputs[2].type if result_type is None else result_type,
            atom=MMA_ATOM_TYPES[atom.op](atom),
            **dict.fromkeys(self.SELECTORS) | dict(zip(self.SELECTORS, numbers, strict=False)),
        )

    def verify_(self) -> None:
        atom = self.mma_atom
        for operand, value in zip(atom.inputs, self.inputs, strict=True):
            verify_fragment(atom, operand, value.type)
            verify_holders(self, f"operand {operand}", value)
        verify_fragment(atom, "D", self.d.type)
        if len(self.operands) - len(atom.inputs) not in (0, len(self.IDS)) or any(
            name in self.properties for name in self.IDS if len(self.operands) > len(atom.inputs)
        ):
            raise self.fail(f"{', '.join(self.IDS)} as numbers or all as values")
        atom.check_selectors(self.selectors)


class _ProductOperands:
    """A, B and C."""

    a = operand_def()
    b = operand_def()
    c = operand_def()


class _Metadata:
    """The metadata of a structured-sparse A, and which threads give them."""

    e = operand_def()
    selector = prop_def(NUMBER)


class _Factors:
    """Scale factors, the byte of a word and the threads that they are in, as numbers or values."""

    sfa = operand_def()
    sfb = operand_def()
    ids = var_operand_def(i16)
    byte_id_a = opt_prop_def(NUMBER)
    thread_id_a = opt_prop_def(NUMBER)
    byte_id_b = opt_prop_def(NUMBER)
    thread_id_b = opt_prop_def(NUMBER)


_DENSE, _SPARSE = "$a `,` $b `,` $c", "$a `,` $b `,` $c `,` $e `[` $selector `]`"
_SCALED = (
    " `,` $sfa (`[` $byte_id_a^ `,` $thread_id_a `]`)? `,` "
    "$sfb (`[` $byte_id_b^ `,` $thread_id_b `]`)? (`ids` `(` $ids^ `)`)?"
)
_ATOM = " $atom attr-dict `:` functional-type(operands, results)"


class DenseMma(_ProductOperands, RegisterMmaOp):
    """D = A * B + C, as `%a, %b, %c <ATOM>`."""

    assembly_format = _DENSE + _ATOM


class SparseMma(_ProductOperands, _Metadata, RegisterMmaOp):
    """D = A * B + C with half of A left out, as `%a, %b, %c, %e[0] <ATOM>`.

    `e` holds where in A the stored elements belong, two bits each, and the sparsity selector in
    brackets says which threads' `e` counts. PTX ISA 9.7.14.6.
    """

    SELECTORS: ClassVar[tuple[str, ...]] = ("selector",)

    assembly_format = _SPARSE + _ATOM


class ScaledMma(_ProductOperands, _Factors, RegisterMmaOp):
    """D = (A * SFA) * (B * SFB) + C, as `%a, %b, %c, %sfa[0, 0], %sfb[0, 0] <ATOM>`.

    The brackets hold {byte-id, thread-id}: the byte of the word from which on the scale factors
    count, and the threads of each group of four that give them. All four may be values instead, the
    same in all threads: `%a, %b, %c, %sfa, %sfb ids(%i, %j, %k, %l) <ATOM>`. PTX ISA 9.7.14.3.
    """

    IDS: ClassVar[tuple[str, ...]] = ("byte_id_a", "thread_id_a", "byte_id_b", "thread_id_b")
    SELECTORS: ClassVar[tuple[str, ...]] = IDS

    assembly_format = _DENSE + _SCALED + _ATOM


class ScaledSparseMma(_ProductOperands, _Metadata, _Factors, RegisterMmaOp):
    """A sparse and block-scaled MMA, as `%a, %b, %c, %e[0], %sfa[0, 0], %sfb[0, 0] <ATOM>`."""

    IDS: ClassVar[tuple[str, ...]] = ScaledMma.IDS
    SELECTORS: ClassVar[tuple[str, ...]] = (*SparseMma.SELECTORS, *IDS)

    assembly_format = _SPARSE + _SCALED + _ATOM


def verify_fragment(atom: FragmentAtom, operand: Operand, type_: Attribute) -> None:
    """Raise Illegal unless the type is the atom's fragment of that operand."""
    where = f"operand {operand} " if operand != "D" else "result D "
    check_fragment(
        where, type_, atom.element(operand), atom.tv_layout(operand), atom.mnemonic,
        atom.row.section,
    )  # fmt: skip


def check_fragment(
    where: str,
    type_: Attribute,
    element: ElementType,
    canonical: Layout,
    mnemonic: str,
    section: str,
) -> None:
    """Raise Illegal unless the type is the fragment of that element type and layout."""
    count = canonical[1].size()
    legal = FragmentType.of(element, count)
    if not isinstance(type_, FragmentType):
        raise Illegal(
            f"{where}expected a register fragment, got {type_} "
            f"({mnemonic} takes registers); nearest legal: {legal}"
        )
    if (type_.element_type, type_.unpacked) != (legal.element_type, legal.unpacked):
        wanted, got = _spelled(legal), _spelled(type_)
        raise Illegal(
            f"{where}expected element type {wanted}, got {got} ({mnemonic}); nearest legal: {legal}"
        )
    if type_.count.data != count:
        raise Illegal(
            f"{where}expected {count} elements a thread, got {type_.count.data} "
            f"({mnemonic}); nearest legal: {legal}"
        )
    declared = type_.tv_layout
    if declared is not None and declared != canonical and not equivalent(declared, canonical):
        raise Illegal(
            f"{where}expected layout {canonical}, got {declared} ({mnemonic}, PTX ISA {section})"
        )


def _spelled(type_: FragmentType) -> str:
    """The element type, and whether it takes a byte each."""
    return f"{type_.element_type}{', unpacked' if type_.is_unpacked else ''}"
