"""Special registers that say of a block where it runs, and when."""

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.irdl import prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.data_movement import OF_BLOCKS
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.fields import fields_op
from tilewright.dialects.traits import READS_AND_WRITES


def register_fault(register: str, type_: str) -> str | None:
    """The fault of a special register that is read as a type of integers: what was expected."""
    if (kind := OF_BLOCKS.get(register)) is None:
        return f"one of {', '.join(OF_BLOCKS)}, got {register}"
    wanted = f"i{kind[1:]}"
    return None if type_ == wanted else f"{wanted}, got {type_}"


@fields_op("cute_nvgpu.special_register")
class SpecialRegisterOp(BaselineOp):
    """Read the number of the multiprocessor, or a special register that counts time.

    ```mlir
    %now = cute_nvgpu.special_register "globaltimer" : i64
    ```

    PTX ISA 10.12, 10.26 to 10.28.
    """

    register = prop_def(StringAttr)
    result = result_def(IntegerType)

    traits = READS_AND_WRITES

    def verify_(self) -> None:
        if (fault := register_fault(self.register.data, str(self.result.type))) is not None:
            raise self.fail(fault)
