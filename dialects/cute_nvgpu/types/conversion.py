"""`cvt` between element types as an attribute of `cute_nvgpu`."""

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute.types.tiled import ConversionAttr
from tilewright.dialects.cute_nvgpu.atoms.conversion import TypeConversion, find_conversion
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.reading import legal_text


@irdl_attr_definition
class ConvertAttr(Data[TypeConversion], ConversionAttr):
    """A form of `cvt` between element types: `#cute_nvgpu.convert<"rn.satfinite.e2m1x2.f32">`."""

    name = "cute_nvgpu.convert"

    def requirement(self) -> Requirement:
        return self.data.form.requirement

    @property
    def random_words(self) -> int:
        return self.data.count if self.data.is_stochastic else 0

    def why_not(self, source: str, result: str, elements: int) -> str | None:
        return self.data.why_not(source, result, elements)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TypeConversion:
        with parser.in_angle_brackets(), legal_text(parser, "convert "):
            return find_conversion(parser.parse_str_literal(" for a form of cvt"))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.form.suffix)
