"""The parameters of a kernel: as its callers know them, and as it has them at its level.

A kernel that was lowered from the tile level takes the arguments of that level: each of its own
parameters says (`cute.from`) which part of which of them it is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.types.argument import ArgumentAttr, signature_of, sources_of
from tilewright.dialects.cute.types.memref import is_memref
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import is_kernel
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.source.diagnostic import CompileError, at


def wrong_count(parameters: Sequence[Any], given: int) -> str:
    """The words for another number of arguments than there are parameters."""
    names = list(map(str, parameters))
    missing = f"; missing: {', '.join(names[given:])}" if given < len(names) else ""
    return f"expected {len(names)} arguments ({', '.join(names)}), got {given}{missing}"


@frozen
class Parameter:
    """A parameter of a kernel: its name, its type as text and as itself (None at the `ptx` level),
    which part of an argument of the tile level it is, and whether it is taken to be `natural`, not
    negative."""

    name: str
    text: str
    type: Attribute | None = None
    source: ArgumentAttr | None = None
    natural: bool = False

    @property
    def element(self) -> str | None:
        """The element type of a memref, tensor map or pointer, in MLIR's words."""
        if isinstance(self.type, TensorMemRefType):
            return self.type.tensor.element
        if is_memref(self.type):
            return str(self.type.element_type)
        if isinstance(self.type, PointerType):
            return shown(self.type.pointee_type)
        return None if self.box is None else self.box.element.mlir

    @property
    def box(self) -> TensorBox | None:
        """The box of a tensor map."""
        return self.type.box if isinstance(self.type, TmaDescriptorType) else None

    def arranged(self, array: AnyArray) -> AnyArray:
        """The array, its elements contiguous along the dimension whose stride the type has as 1."""
        if not isinstance(self.type, TensorMemRefType):
            return array
        strides = flatten(self.type.tensor.modes.stride)
        if 1 not in strides or strides.index(1) >= array.ndim:
            return array
        inner = strides.index(1)
        last = np.ascontiguousarray(np.moveaxis(array, inner, -1))
        return np.moveaxis(last, -1, inner)

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def kernels_of(module: ModuleOp) -> list[Operation]:
    """The kernels of a module, at any level."""
    return [op for op in module.walk() if isinstance(op, EntryOp) or is_kernel(op)]


def symbol_of(kernel: Any) -> str:
    """The name of a kernel."""
    return kernel.sym_name.data


def kernel_parameters(op: Operation) -> list[Parameter]:
    """The parameters that a kernel's callers fill: its parameters, or those that it had at the tile
    level."""
    own, signature = own_parameters(op), signature_of(op)
    if signature is None:
        return own
    return [
        Parameter(_name(own, index), str(type_), type_) for index, type_ in enumerate(signature)
    ]


def own_parameters(op: Operation) -> list[Parameter]:
    """The parameters that a kernel has at its level. Raises CompileError where it has no body."""
    if op.regions[0].first_block is None:
        message = f"'{op.name}' expected a body of the kernel '{symbol_of(op)}', got none"
        raise CompileError(at(op.location, message))
    sources = sources_of(op)
    if isinstance(op, EntryOp):
        rows = zip(op.parameter_names, op.parameters, sources, strict=True)
        return [Parameter(name.data, type_.data, None, source) for name, type_, source in rows]
    arguments = op.regions[0].blocks[0].args
    return [
        Parameter(argument.name_hint or f"arg{i}", str(argument.type), argument.type, source)
        for i, (argument, source) in enumerate(zip(arguments, sources, strict=True))
    ]


def _name(parameters: Sequence[Parameter], index: int) -> str:
    """The name of an argument of the tile level: the one of its first part."""
    parts = (row for row in parameters if row.source and row.source.index.data == index)
    return next((part.name for part in parts), f"arg{index}")
