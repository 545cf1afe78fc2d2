"""The universal FMA as a type of `cute_nvgpu`."""

from xdsl.ir import TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma, find_fma
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.types.atoms import LatticeData, parse_element, parse_list
from tilewright.dialects.reading import legal_text


@irdl_attr_definition
class UniversalFmaType(LatticeData[UniversalFma], TypeAttribute, MmaAtomAttr):
    """`fma.rn` of one thread as an atom: `!cute_nvgpu.universal_fma<1x1x1, elem_type = (f32, f32,
    f32)>`, f64 as well, and <2x1x1, ...> of f16 and bf16."""

    name = "cute_nvgpu.universal_fma"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> UniversalFma:
        with parser.in_angle_brackets(), legal_text(parser):
            shape = tuple(parser.parse_dimension_list())
            return find_fma(shape, tuple(parse_list(parser, "elem_type", parse_element)))

    def requirement(self) -> Requirement:
        return self.data.form.requirement

    @property
    def mma_traits(self) -> MmaTraits:
        return self.data.traits

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return f"{self.data} reads {which} from registers"
