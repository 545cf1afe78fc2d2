"""Programs of scalars that are run for each element, and the special registers of a block. They are
ours: Tile IR and its bytecode have none."""

from typing import Any

from xdsl.irdl import prop_def, result_def, var_operand_def

from tilewright.dialects.accepts import STRING
from tilewright.dialects.cuda_tile.constraints import NUMBER_TILE
from tilewright.dialects.cuda_tile.ops.memory import TOKEN_TEXT, TokenOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cute_nvgpu.ops.special_register import register_fault
from tilewright.dialects.declared import declared_op
from tilewright.dialects.math_functions.libdevice import signature_fault
from tilewright.dialects.traits import READS_AND_WRITES


class ScalarProgram(PureOp):
    """A tile of what a program makes of the elements of others, all of one shape."""

    args = var_operand_def(NUMBER_TILE)
    result = result_def(NUMBER_TILE)

    def verify_types(self) -> None:
        result: Any = self.result.type
        elements: list[str] = []
        for argument in self.args:
            type_: Any = argument.type
            if type_.shape != result.shape:
                raise self.fail(f"operands of the shape of {shown(result)}, got {shown(type_)}")
            elements.append(str(type_.element_type))
        self.verify_elements(elements, str(result.element_type))

    def verify_elements(self, operands: list[str], result: str) -> None:
        """Raise VerifyException where the program is not one of these types."""


@declared_op("cuda_tile.libdevice")
class LibdeviceOp(ScalarProgram):
    """A function of CUDA's libdevice by its name there:
    `libdevice "__nv_powf" %x, %y : tile<4xf32>, tile<4xf32> -> tile<4xf32>`."""

    assembly_format = "$function $args attr-dict `:` type($args) `->` type($result)"

    function = prop_def(STRING)
    args = var_operand_def(NUMBER_TILE)
    result = result_def(NUMBER_TILE)

    def verify_elements(self, operands: list[str], result: str) -> None:
        fault = signature_fault(self.function.data, operands, result)
        if fault is not None:
            raise self.fail(fault)


@declared_op("cuda_tile.special_register_tko")
class SpecialRegisterTkoOp(TokenOp):
    """The number of the multiprocessor, or a special register that counts time, as one thread reads
    it for its block: `%now, %t = special_register_tko "globaltimer" -> tile<i64>, token`."""

    assembly_format = f"$register {TOKEN_TEXT} attr-dict `->` type($result) `,` type($result_token)"

    register = prop_def(STRING)
    result = result_def(NUMBER_TILE)

    traits = READS_AND_WRITES

    def verify_types(self) -> None:
        result: Any = self.result.type
        fault = register_fault(self.register.data, str(result.element_type))
        if result.shape:
            fault = f"a scalar, got {shown(result)}"
        if fault is not None:
            raise self.fail(fault)
