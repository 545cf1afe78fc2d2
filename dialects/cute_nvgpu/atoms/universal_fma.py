"""The universal FMA: what one thread multiplies and adds without a tensor core.

<1x1x1, elem_type = (f32, f32, f32)>    fma.rn.f32, and f64
<2x1x1, elem_type = (f16, f16, f16)>    fma.rn.f16x2, two rows at once, and bf16
"""

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.atoms import MmaOperand, MmaTraits, Operand
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.lattice.row import Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS, Form
from tilewright.dialects.frozen import frozen

_FORMS = {"f32": "rn.f32", "f64": "rn.f64", "f16": "rn.f16x2", "bf16": "rn.bf16x2"}


@frozen
class UniversalFma:
    """`fma.rn` on an element type, by its PTX name. Build it with `find_fma`, which checks it."""

    type: str

    @property
    def form(self) -> Form:
        """The instruction's row."""
        return SCALARS["fma"].forms[_FORMS[self.type]]

    @property
    def shape(self) -> Shape:
        """As many rows as a register holds, one column, one K."""
        return ELEMENT_TYPES[self.type].per_register, 1, 1

    def element(self, operand: str) -> ElementType:
        """The element type of every operand."""
        return ELEMENT_TYPES[self.type]

    @property
    def parameters(self) -> str:
        """The text between angle brackets in IR."""
        return f"{shape_text(self.shape)}, elem_type = ({', '.join([self.element('A').mlir] * 3)})"

    @property
    def traits(self) -> MmaTraits:
        """One thread, with all of every operand."""
        rows, element = self.shape[0], self.element("A").mlir

        def operand(which: Operand) -> MmaOperand:
            count = 1 if which == "B" else rows
            tv = Layout((1, count), (0, 1 if count > 1 else 0))
            return MmaOperand((count, 1), tv, (element,), "rmem")

        return MmaTraits(
            self.shape, Layout(1, 0), {which: operand(which) for which in ("A", "B", "C")}, 1
        )

    def __str__(self) -> str:
        return f"fma.{self.form.suffix}"


def fma_of(type_: str) -> UniversalFma:
    """The FMA on an element type. Raises AtomError where there is none."""
    if type_ not in _FORMS:
        raise AtomError(
            f"expected elements of {', '.join(_FORMS)}, got {type_}; nearest legal: f32"
        )
    return UniversalFma(type_)


def find_fma(shape: tuple[int, ...], types: tuple[str, ...]) -> UniversalFma:
    """The FMA of that shape and these element types, PTX names of a, b and the accumulator. Raises
    AtomError, naming the nearest, where there is none."""
    legal = [UniversalFma(name) for name in _FORMS]
    for fma in legal:
        if (fma.type,) * 3 == types and fma.shape == shape:
            return fma
    near = next((fma for fma in legal if fma.type in types), legal[0])
    raise AtomError(
        f"'universal_fma' expected {', '.join(f'<{fma.parameters}>' for fma in legal)}, got "
        f"{shape_text(shape)} on ({', '.join(types)}); nearest legal: <{near.parameters}>"
    )
