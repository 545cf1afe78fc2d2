"""Arguments of a kernel, bound: arrays placed in a memory, numbers as bits of their width.

The law is one for both sides; each gives the memory that arrays are placed in, and makes of the
bound arguments what its kernels take (`interpreted`, `Entry.values`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, Protocol, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute

from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.bound import Bound, Mapped, Placed, packed
from tilewright.arguments.dtypes import DTYPES
from tilewright.arguments.host_memory import HostMemory, HostPlace
from tilewright.arguments.parameters import Parameter, wrong_count
from tilewright.arguments.tensor_map import TensorMap
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.dialects.cute.rules.accessors import dynamic_leaves
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.types.argument import FROM, NAN_FLAG, NUMBER, ArgumentAttr
from tilewright.dialects.cute.types.memref import is_memref
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.cute.values import read_typed
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox, TensorMapError
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK, ENDLESS_EXTENT
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.illegal import told
from tilewright.dialects.ptx.control_flow import TENSORMAP
from tilewright.dialects.ptx.scalar_types import scalar_type
from tilewright.dialects.sequences import paired
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue, bound
from tilewright.lowering.interpreter.array_spans import overlaps_itself
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, UInt8Array, is_array
from tilewright.source.diagnostic import ArgumentError


class ArgumentMemory(Protocol):
    """Where a kernel's arguments lie: the interpreter's global memory, or that of a GPU."""

    def place(self, name: str, content: UInt8Array) -> int:
        """The address of a copy of these bytes."""
        ...

    def add_tensor_map(
        self,
        name: str,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        box: TensorBox,
    ) -> Any:
        """The kernel's argument for the tensor map of a tensor at an address; strides in bytes."""
        ...

    def map_bytes(self, handle: Any) -> bytes:
        """The bytes of such a tensor map."""
        ...


class Binding:
    """The arguments of one run. `values` are bound, in order; `placed` the arrays that were copied
    to the memory, in order. Raises ArgumentError for arguments that do not fit.

    Arrays that are on the GPU already are taken `on_gpu` alone.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        args: Sequence[Any],
        memory: ArgumentMemory,
        *,
        on_gpu: bool = False,
    ):
        if len(args) != len(parameters):
            raise ArgumentError(wrong_count(parameters, len(args)))
        self._memory, self._on_gpu, self.parameters = memory, on_gpu, parameters
        named = ((parameter.name, arg) for parameter, arg in zip(parameters, args, strict=True))
        self.host = HostMemory(named, memory.place)
        self.placed: list[ArrayArgument] = []
        self._places: list[HostPlace] = []
        self._names: list[str] = []
        self.values = list(starmap(self._bound, zip(parameters, args, strict=True)))

    def results(self, contents: Iterable[UInt8Array]) -> list[AnyArray]:
        """The arrays, from what the memory has in the places of their blocks after the run; behind
        them may be what the kernel has of its own. Raises ArgumentError where the kernel has
        written to an array that is read-only."""
        blocks = [content for _, content in zip(self.host.blocks, contents, strict=False)]
        if (name := self.host.changed(blocks)) is not None:
            raise written_read_only(name)
        pairs = zip(self.placed, self._places, strict=True)
        return [array.seen(place.of(blocks)) for array, place in pairs]

    def unwritten(
        self, outputs: Collection[str], written: Sequence[BoolArray]
    ) -> Iterator[tuple[str, BoolArray]]:
        """Those arrays of some names that have elements outside of what was written, the bytes of
        each buffer of the memory; and these elements."""
        flags = [buffer.view(np.uint8) for buffer in written]
        for name, array, place in zip(self._names, self.placed, self._places, strict=True):
            missing = array.seen(place.of(flags))[..., None].view(np.uint8) == 0
            if name in outputs and missing.any():
                yield name, np.asarray(missing.any(axis=-1))

    def parts(self, parameters: Sequence[Parameter]) -> list[Bound]:
        """The argument of each parameter of a kernel that was lowered from the tile level."""
        return [self._part(parameter) for parameter in parameters]

    def _bound(self, parameter: Parameter, arg: Any) -> Bound:
        type_ = parameter.type
        if isinstance(type_, LLVMStructType):
            return self._struct(parameter, type_, arg)
        if parameter.box is not None or parameter.text == TENSORMAP:
            return self._tensor_map(parameter, arg)
        if isinstance(arg, TensorMap):
            raise _error(parameter, f"expected {parameter.text}, got a tensor map")
        if parameter.text.startswith("bytes") and isinstance(arg, dict):
            return self._packed(parameter, cast("dict[int, Any]", arg))
        array = self._array(parameter, arg)
        if array is not None:
            return self._checked(parameter, array)
        if isinstance(type_, CuteType) and not isinstance(type_, TensorMemRefType):
            return _cute_value(parameter, type_, arg)
        if parameter.element is not None or parameter.text.startswith("bytes"):
            got = type(arg).__name__
            raise _error(parameter, f"expected an array for {parameter.text}, got {got}")
        return number_bits(parameter, arg)

    def _packed(self, parameter: Parameter, parts: dict[int, Any]) -> Placed:
        """The bytes of a struct, as an array."""
        content = packed(parameter, parts, self._bound, self._memory.map_bytes)
        return Placed(ArrayArgument.of(content), self.host.place(parameter.name, content).address)

    # --- arrays ---

    def _array(self, parameter: Parameter, arg: Any) -> ArrayArgument | None:
        """An array, contiguous where the parameter is a bare pointer, and nobody says how else the
        array lies; or None."""
        if not is_array(arg):
            array = self._there(parameter, arg)
            if array is not None and not self._on_gpu:
                raise _error(parameter, "expected an array of NumPy, got one on the GPU")
            return array
        if not isinstance(parameter.type, TensorMemRefType | PointerType):
            arg = self._contiguous(parameter, arg)
        try:
            return ArrayArgument.of(arg)
        except ValueError as error:
            raise _error(parameter, f"expected {error}") from None

    def _contiguous(self, parameter: Parameter, array: AnyArray) -> AnyArray:
        """An array as a bare pointer has it: itself, or a copy of what nothing else overlaps that
        may be written."""
        if array.flags.c_contiguous:
            return array
        others = self.host.shared(array)
        if others or (array.flags.writeable and overlaps_itself(array.shape, array.strides)):
            why = f"shares memory with {' / '.join(others)}" if others else "overlaps itself"
            raise _error(
                parameter,
                f"expected a C-contiguous array for {parameter.text}, got strides of "
                f"{array.strides} bytes (it {why}); nearest legal: a copy",
            )
        copied = np.ascontiguousarray(array).reshape(array.shape)
        copied.flags.writeable = array.flags.writeable
        return copied

    @staticmethod
    def _there(parameter: Parameter, arg: Any) -> ArrayArgument | None:
        """An array on the GPU, or None."""
        try:
            return ArrayArgument.on_gpu(arg)
        except ValueError as error:
            raise _error(parameter, f"expected {error}") from None

    def _checked(self, parameter: Parameter, array: ArrayArgument) -> Placed:
        """The array in memory, where it is what the parameter's type says."""
        type_, text, why, align = parameter.type, parameter.text, None, array.width
        given = array
        if isinstance(type_, TensorMemRefType):
            tensor = type_.tensor
            array, why = self._elements(parameter, tensor, array)
            align = tensor.align
            if why is None and (why := array.why_no_tensor(tensor)) is not None:
                why = f"{why} for {text}"
        elif text.startswith("bytes") and array.flat is None:
            why = f"expected an array of NumPy for {text}, got one on the GPU"
        elif is_memref(type_):
            element = str(type_.element_type)
            why = array.why_no_elements(element, text) or _why_no_shape(type_, array, text)
        elif not isinstance(type_, PointerType) and (
            type_ is not None or not text.startswith(("u64", "bytes"))
        ):
            why = f"expected a number for {text}, got an array"
        if why is not None:
            raise _error(parameter, why)
        address = array.address if array.flat is None else self._placed(parameter, given)
        if address % align:
            got = f"for {parameter.text}, got {address:#x}"
            raise _error(parameter, f"expected an address of whole {align} bytes {got}")
        return Placed(array, address)

    def _placed(self, parameter: Parameter, array: ArrayArgument) -> int:
        """The address of a NumPy array in the memory."""
        assert array.flat is not None
        self.placed.append(array)
        self._names.append(parameter.name)
        self._places.append(self.host.place(parameter.name, array.flat))
        return self._places[-1].address

    @staticmethod
    def _elements(
        parameter: Parameter, tensor: Tensor, array: ArrayArgument
    ) -> tuple[ArrayArgument, str | None]:
        """The array in elements of a tensor, and why it holds none of them, or None."""
        if tensor.bits >= 8:
            return array, array.why_no_elements(tensor.element, parameter.text)
        try:
            return array.of_parts(tensor, parameter.text), None
        except ValueError as error:
            return array, f"expected {error}"

    def _tensor_map(self, parameter: Parameter, arg: Any) -> Mapped:
        if not isinstance(arg, TensorMap):
            got = type(arg).__name__
            raise _error(parameter, f"expected a TensorMap for {parameter.text}, got {got}")
        box = parameter.box
        if box is not None and _key(box) != _key(arg.box):
            raise _error(parameter, f"expected a TensorMap of box {box}, got {arg.box}")
        array = None
        if arg.array is not None:
            address = self._placed(parameter, ArrayArgument.of(arg.array))
        elif not self._on_gpu:
            raise _error(parameter, "expected a TensorMap of a NumPy array")
        else:
            array = self._there(parameter, arg.tensor)
            address = int(arg.tensor) if array is None else array.address
        return self._mapped(parameter, arg, address, array is not None and array.read_only)

    def _mapped(
        self, parameter: Parameter, map_: TensorMap, address: int, read_only: bool
    ) -> Mapped:
        name, box = parameter.name, map_.box
        if address % CHUNK:
            got = f"for {parameter.text}, got {address:#x}"
            raise _error(parameter, f"expected an address of whole {CHUNK} bytes {got}")
        handle = self._memory.add_tensor_map(name, address, map_.shape, map_.strides, box)
        return Mapped(handle, read_only)

    # --- parts of arguments ---

    def _part(self, parameter: Parameter) -> Bound:
        source = parameter.source
        if source is None or source.index.data >= len(self.values):
            raise ArgumentError(
                f"parameter '{parameter.name}' expected {FROM} with one of {len(self.values)} "
                f"arguments, got {source}"
            )
        value, modes = self.values[source.index.data], [mode.data for mode in source.modes]
        if source.part.data == "field":
            return _field(value, modes)
        if not isinstance(value, Placed):
            return value
        match source.part.data:
            case "shape":
                return value.array.shape[modes[0]]
            case "stride":
                return value.array.strides[modes[0]]
            case "tensor_map":
                return self._map_of(parameter, source.type, value, modes)
            case "flat_map":
                numbers = cast("Sequence[int]", self.values)
                map_ = flat_map(parameter, source, value.address, numbers)
                return self._mapped(parameter, map_, value.address, value.read_only)
            case _:
                return value

    def _map_of(
        self, parameter: Parameter, type_: Attribute, placed: Placed, modes: Sequence[int]
    ) -> Mapped:
        assert isinstance(type_, TmaDescriptorType)
        try:
            map_ = placed.array.tensor_map(type_.box, modes)
            return self._mapped(parameter, map_, placed.address, placed.read_only)
        except TensorMapError as error:
            raise _error(parameter, str(error)) from None

    # --- structs ---

    def _struct(self, parameter: Parameter, type_: LLVMStructType, arg: Any) -> tuple[Any, ...]:
        """The fields of a struct, from a tuple of them."""
        types = type_.types.data
        if not is_tuple(arg) or len(arg) != len(types):
            got = f"for {type_}, got {told(arg)}"
            raise _error(parameter, f"expected a tuple of {len(types)} {got}")
        fields = [Parameter(f"{parameter.name}[{i}]", str(t), t) for i, t in enumerate(types)]
        return tuple(starmap(self._bound, zip(fields, arg, strict=True)))


def flat_map(
    parameter: Parameter, source: ArgumentAttr, address: int, values: Sequence[int]
) -> TensorMap:
    """The tensor map of a pointer, a `flat_map` of arguments of these values. A tensor without
    elements has one that nothing reads. Raises ArgumentError."""
    assert isinstance(source.type, TmaDescriptorType)
    box, modes = source.type.box, [mode.data for mode in source.modes]
    pairs = [*paired(modes)]
    given = [
        min(number, ENDLESS_EXTENT)
        if kind == NUMBER
        else values[number] // kind
        if kind > NAN_FLAG
        else max(-kind, 1) * values[number]
        for kind, number in pairs
    ]
    nan = bool(given.pop()) if pairs[-1][0] == NAN_FLAG else False
    try:
        return TensorMap(
            address,
            box=box.shape,
            swizzle=box.swizzle,
            swizzle_atom=box.swizzle_atom,
            shape=[max(size, 1) for size in given[::2]],
            strides=given[1::2],
            nan=nan,
            element=box.element.mlir,
        )
    except TensorMapError as error:
        raise _error(parameter, str(error)) from None


def _field(value: Any, path: Sequence[int]) -> Bound:
    """A field of a struct, or a number of a value of the algebra."""
    if isinstance(value, LaneValue):
        leaf = dynamic_leaves(value.typed)[path[0]]
        assert isinstance(leaf, LaneInteger)
        return int(leaf.bits[0])
    for number in path:
        value = value[number]
    return value


def written_read_only(name: str) -> ArgumentError:
    """The error of an argument that the kernel writes and that may not be written."""
    return ArgumentError(
        f"argument '{name}' expected an array that may be written, as the kernel does, got a "
        "read-only one"
    )


def _error(parameter: Parameter, message: str) -> ArgumentError:
    return ArgumentError(f"argument '{parameter.name}' {message}")


def _key(box: TensorBox) -> tuple[Any, ...]:
    return box.shape, box.swizzle, box.swizzle_atom, box.element.bytes, box.interleaved


def _why_no_shape(type_: MemRefType[Attribute], array: ArrayArgument, text: str) -> str | None:
    """Why an array is none behind a memref's pointer, or None where it is."""
    shape = type_.get_shape()
    if not array.is_dense:
        strides = array.strides
        return f"expected a C-contiguous array on the GPU for {text}, got strides {strides}"
    # memref<?xT> is a bare pointer: any array of T may stand behind it.
    if shape == (DYNAMIC_INDEX,):
        return None
    if len(array.shape) == len(shape) and all(
        wanted in (DYNAMIC_INDEX, extent) for wanted, extent in zip(shape, array.shape, strict=True)
    ):
        return None
    wanted = tuple("?" if extent == DYNAMIC_INDEX else extent for extent in shape)
    return f"expected shape {wanted} for {text}, got {array.shape}"


def _cute_value(parameter: Parameter, type_: CuteType, arg: Any) -> LaneValue:
    try:
        value = read_typed(type_.kind(), arg).value if isinstance(arg, str) else arg
        return bound(type_.typed, value)
    except ValueError as error:
        raise _error(parameter, f"expected a value of {parameter.text}, {error}") from None


def number_bits(parameter: Parameter, arg: Any) -> int:
    """The bits of a scalar. Raises ArgumentError for what is none of the parameter's type."""
    text, type_ = parameter.text, parameter.type
    scalar = None if type_ is None else scalar_type(type_)
    if type_ is not None and scalar is None:
        raise _error(parameter, f"of {text} cannot be passed")
    bits = int(text[1:]) if scalar is None else scalar.bits
    try:
        if isinstance(arg, str | bytes):
            raise TypeError
        if text in ("f16", "bf16", "f32", "f64"):
            return _float_bits(text, float(arg))
        value = int(arg)
        if value != arg:
            raise ValueError
    except Exception:  # its own methods may raise anything
        raise _error(parameter, f"expected a number for {text}, got {told(arg)}") from None
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise _error(parameter, f"expected {bits} bits for {text}, got {told(value)}")
    if parameter.natural and value < 0:
        raise _error(
            parameter,
            f"expected a number from 0 on, as it was compiled for, got {value}; nearest legal: "
            "compile with its place in the module's tt.negative",
        )
    return value % (1 << bits)


def _float_bits(type_: str, value: float) -> int:
    dtype = np.dtype(DTYPES[type_][0])
    with np.errstate(over="ignore"):
        return int(np.array([value]).astype(dtype).view(f"uint{8 * dtype.itemsize}")[0])
