"""The universal FMA as a type of `cute_nvgpu`."""

from xdsl.ir import TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.symbolic.composed import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma, find_fma
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.types.atoms import LatticeData, parse_element, parse_list


@irdl_attr_definition
class UniversalFmaType(LatticeData[UniversalFma], TypeAttribute, MmaAtomAttr):
    """`fma.rn` of one thread as an atom: `!cute_nvgpu.universal_fma<1x1x1, elem_type = (f32, f32,
    f32)>`, f64 as well, and <2x1x1, ...> of f16 and bf16."""

    name = "cute_nvgpu.universal_fma"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> UniversalFma:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = tuple(parser.parse_dimension_list())
            types = parse_list(parser, "elem_type", parse_element)
            try:
                return find_fma(shape, tuple(types))
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def requirement(self) -> Requirement:
        return self.data.form.requirement

    @property
    def mma_traits(self) -> MmaTraits:
        return self.data.traits

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return f"{self.data} reads {which} from registers"
