"""The parameters of a cuTile kernel: what cuTile is told of the arguments, and how its calling
convention (`cutile_python_v2`) lays them out as the flat parameters of the entry."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from importlib import import_module
from itertools import chain, repeat
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tilewright.arguments.arrays import ArrayArgument, dtype_name
from tilewright.arguments.parameters import wrong_count
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told
from tilewright.lowering.interpreter.array_spans import overlaps_itself
from tilewright.lowering.interpreter.cuda_tile.allocations import ArrayTable
from tilewright.source.checked import require
from tilewright.source.diagnostic import ArgumentError

AnyArray = NDArray[Any] | ArrayArgument
"""An array of NumPy, or one on the GPU."""

ALIGNED = 16
"""The divisor that cuTile's own launch tells its compiler of: base addresses and strides of whole
16 bytes, sizes of whole 16 elements; it tells of sizes of 1, too."""

_TORCH_BITS = {
    "bfloat16": "int16",
    "float8_e4m3fn": "uint8",
    "float8_e5m2": "uint8",
    "float8_e8m0fnu": "uint8",
}


class IndexOverflowError(ArgumentError, OverflowError):
    """An array that indices of 32 bits do not reach: an OverflowError, as cuTile's is."""


@frozen
class CutileParameter:
    """One parameter: its name, its annotation as cuTile has read it, and its argument, tensors of
    torch as arrays of NumPy, those on the GPU as they lie there."""

    name: str
    annotation: Any
    argument: Any

    def flat(self) -> Generator[tuple[str, Any]]:
        """The entry's parameters for it, with names: an array is its pointer, shape and strides, a
        list a table of them and its length, a tuple its items; constants are left out."""
        argument = self.argument
        if isinstance(argument, tuple):
            for item in self._items():
                yield from item.flat()
        elif not getattr(self.annotation, "constant", False):
            parts = [argument]
            if isinstance(argument, list):
                table = cast("list[Any]", argument)
                parts = [ArrayTable(table), len(table)]
            elif isinstance(argument, np.ndarray | ArrayArgument):
                array = cast("AnyArray", argument)
                parts = [array, *array.shape, *strides_of(array)]
            yield from ((self.name, part) for part in parts)

    def arrays(self) -> Generator[AnyArray]:
        """All arrays of the argument, those of lists and tuples too."""
        argument = self.argument
        if isinstance(argument, tuple):
            for item in self._items():
                yield from item.arrays()
        elif isinstance(argument, list):  # anything else in it is refused by its constraint
            for item in cast("list[Any]", argument):
                if isinstance(item, np.ndarray | ArrayArgument):
                    yield cast("AnyArray", item)
        elif isinstance(argument, np.ndarray | ArrayArgument):
            yield cast("AnyArray", argument)

    def constraint(self, arrays: Sequence[AnyArray], *, aligned: bool = False) -> Any:
        """The assumptions that cuTile may make; `arrays` are those of all parameters, and what
        they are `aligned` to is one. Raises ArgumentError."""
        compilation = import_module("cuda.tile.compilation")
        argument, annotation = self.argument, self.annotation
        if isinstance(argument, tuple):
            return compilation.TupleConstraint(
                [item.constraint(arrays, aligned=aligned) for item in self._items()]
            )
        if getattr(annotation, "constant", False):
            return compilation.ConstantConstraint(argument)
        if isinstance(argument, list):
            return self._list_constraint(arrays, aligned)
        if isinstance(argument, np.ndarray | ArrayArgument):
            array = cast("AnyArray", argument)
            own = getattr(annotation, "array", None)
            return self._array_constraint(array, own, arrays, aligned)
        return self._scalar_constraint()

    def _items(self) -> list[CutileParameter]:
        items: tuple[Any, ...] = self.argument
        nodes = getattr(self.annotation, "items", None)
        if nodes is None:
            nodes = (getattr(self.annotation, "each", self.annotation),) * len(items)
        if len(nodes) != len(items):
            raise ArgumentError(
                f"'{self.name}' expected {len(nodes)} items, got {len(items)} (Received a tuple of "
                f"length {len(items)} for a parameter annotated as a tuple of length {len(nodes)})"
            )
        return [
            CutileParameter(f"{self.name}[{i}]", node, item)
            for i, (node, item) in enumerate(zip(nodes, items, strict=True))
        ]

    def _list_constraint(self, arrays: Sequence[AnyArray], aligned: bool) -> Any:
        elements: list[Any] = self.argument
        if not elements or not all(
            isinstance(element, np.ndarray | ArrayArgument) for element in elements
        ):
            kinds = ", ".join(sorted({type(element).__name__ for element in elements})) or "nothing"
            raise ArgumentError(
                f"'{self.name}' expected a NumPy array or a list of them, got a list of {kinds}"
            )
        kinds = {(_name(element), element.ndim) for element in elements}
        if len(kinds) > 1:
            shown = ", ".join(f"{ndim}-D {dtype}" for dtype, ndim in sorted(kinds))
            raise ArgumentError(f"'{self.name}' expected arrays of one dtype and rank, got {shown}")
        annotation = getattr(getattr(self.annotation, "list", None), "element", None)
        self._check_static(elements, annotation)
        described = [
            self._array_constraint(element, annotation, arrays, aligned) for element in elements
        ]
        shared = next(
            (constraint for constraint in described if constraint.alias_groups), described[0]
        )
        wanted = _assumed(shared, aligned)
        same = all(_assumed(constraint, aligned) == wanted for constraint in described)
        if not same:
            shared = self._array_constraint(elements[0], annotation, arrays, False, assume=False)
        return import_module("cuda.tile.compilation").ListConstraint(
            shared, alias_groups=(), elements_may_alias=bool(shared.alias_groups)
        )

    def _check_static(self, elements: Sequence[AnyArray], annotation: Any) -> None:
        """Raises ArgumentError where arrays of a list differ in a static extent or stride."""
        first = elements[0]
        for what, read in (("shape", _shape_of), ("stride", strides_of)):
            for dim in _dims(annotation, f"static_{what}_dims", first.ndim):
                values = [read(element)[dim] for element in elements]
                other = next((value for value in values if value != values[0]), None)
                if other is not None:
                    raise ArgumentError(
                        f"'{self.name}' expected arrays of one {what} where it is static, got "
                        f"others (Arrays in list vary in static {what} at axis {dim} ({values[0]} "
                        f"vs {other}))"
                    )

    def _array_constraint(
        self,
        array: AnyArray,
        annotation: Any,
        arrays: Sequence[AnyArray],
        aligned: bool,
        *,
        assume: bool = True,
    ) -> Any:
        ct, compilation = import_module("cuda.tile"), import_module("cuda.tile.compilation")
        dtype = self._dtype(ct, _name(array))
        try:
            known = array if isinstance(array, ArrayArgument) else ArrayArgument.of(array)
        except ValueError as error:
            raise ArgumentError(f"'{self.name}' expected {error}") from None
        strides, index = known.strides, getattr(annotation, "index_dtype", None) or ct.int32
        if min(strides, default=0) < 0:
            raise ArgumentError(f"'{self.name}' expected strides forwards, got {strides}")
        if index == ct.int32 and max((*array.shape, *strides), default=0) >= 1 << 31:
            raise IndexOverflowError(
                f"'{self.name}' expected sizes and strides of 32 bits, got shape {array.shape} and "
                f"strides {strides}; nearest legal: annotated as ct.IndexedWithInt64"
            )
        # The array itself is one of them.
        aliased = sum(_share(array, other) for other in arrays) > 1
        fixed = _dims(annotation, "static_stride_dims", array.ndim)
        unit = assume and not fixed
        shape = _dims(annotation, "static_shape_dims", array.ndim)
        alignment = _alignment(array) if aligned else {}
        return compilation.ArrayConstraint(
            dtype,
            array.ndim,
            index_dtype=index,
            stride_lower_bound_incl=0,
            alias_groups=("shared",) if aliased else (),
            may_alias_internally=overlaps_itself(array.shape, strides),
            stride_constant=[
                stride if i in fixed or (unit and stride == 1) else None
                for i, stride in enumerate(strides)
            ],
            shape_constant=[
                size if i in shape or (aligned and assume and size == 1) else None
                for i, size in enumerate(array.shape)
            ],
            **alignment,
        )

    def _scalar_constraint(self) -> Any:
        ct, compilation = import_module("cuda.tile"), import_module("cuda.tile.compilation")
        dtype = getattr(getattr(self.annotation, "scalar", None), "dtype", None)
        if dtype is not None:
            return compilation.ScalarConstraint(dtype)
        for kind, default in ((bool, ct.bool_), (int, ct.int32), (float, ct.float32)):
            if isinstance(self.argument, kind):
                if default == ct.int32 and not -(1 << 31) <= self.argument < 1 << 31:
                    got = told(self.argument)
                    raise ArgumentError(
                        f"'{self.name}' expected a number of 32 bits, got {got}; nearest legal: "
                        "annotated as ct.ScalarInt64"
                    )
                return compilation.ScalarConstraint(default)
        raise ArgumentError(
            f"'{self.name}' expected an array, a number, a tuple of them or a list of arrays, got "
            f"{type(self.argument).__name__}"
        )

    def _dtype(self, ct: Any, name: str) -> Any:
        known = getattr(ct, "bool_" if name == "bool" else name, None)
        if known is None:
            raise ArgumentError(
                f"'{self.name}' expected an array of a type that cuTile has, got {name}"
            )
        return known


def _name(array: AnyArray) -> str:
    """NumPy's name of the element type."""
    return array.dtype if isinstance(array, ArrayArgument) else dtype_name(array.dtype)


def _share(a: AnyArray, b: AnyArray) -> bool:
    """True where two arrays may share memory."""
    if isinstance(a, ArrayArgument) and isinstance(b, ArrayArgument):
        return a is b or (a.bounds[0] < b.bounds[1] and b.bounds[0] < a.bounds[1])
    if isinstance(a, ArrayArgument) or isinstance(b, ArrayArgument):
        return False
    return np.may_share_memory(a, b)


def _alignment(array: AnyArray) -> dict[str, Any]:
    """The assumptions on the address, the strides and the sizes of an array."""
    there = isinstance(array, ArrayArgument)
    address, width = (array.address, array.width) if there else (array.ctypes.data, array.itemsize)
    per = max(ALIGNED // width, 1)
    return {
        "base_addr_divisible_by": 1 if address % ALIGNED else ALIGNED,
        "stride_divisible_by": [1 if step % per else per for step in strides_of(array)],
        "shape_divisible_by": [1 if size % ALIGNED else ALIGNED for size in array.shape],
    }


def _assumed(constraint: Any, aligned: bool) -> tuple[Any, ...]:
    """The assumptions on one array of a list, which have to hold for all of them."""
    names = ["stride_constant", "shape_constant"]
    if aligned:
        names += ["stride_divisible_by", "shape_divisible_by", "base_addr_divisible_by"]
    return tuple(getattr(constraint, name) for name in names)


def parameters_of(kernel: Any, args: Sequence[Any]) -> list[CutileParameter]:
    """The parameters of a kernel with their arguments. Raises ArgumentError."""
    function = kernel._annotated_function
    annotations = function.parameter_annotations
    if len(args) != len(annotations):
        wanted, given = len(annotations), len(args)
        raise ArgumentError(
            f"'{function.pyfunc.__name__}' {wrong_count([*function.pysig.parameters], given)} "
            f"(Kernel expects {wanted} argument{'s'[: wanted != 1]} but {given} "
            f"{'was' if given == 1 else 'were'} given)"
        )
    rows = zip(function.pysig.parameters, annotations, args, strict=True)
    return [
        CutileParameter(name, annotation, _named(name, annotation, arg, f"kernel argument #{i}"))
        for i, (name, annotation, arg) in enumerate(rows)
    ]


def flat_of(parameters: Sequence[CutileParameter]) -> list[tuple[str, Any]]:
    """The entry's parameters for all of them, with names."""
    return [part for parameter in parameters for part in parameter.flat()]


def _named(name: str, annotation: Any, argument: Any, place: str) -> Any:
    """`as_array`, whose error names the parameter; tuples with names and constants that cuTile
    refuses are refused."""
    _check_plain(name, annotation, argument, place)
    try:
        return as_array(argument)
    except ArgumentError as error:
        raise ArgumentError(f"'{name}' {error}") from None


def _check_plain(name: str, annotation: Any, argument: Any, place: str) -> None:
    if not isinstance(argument, tuple):
        if getattr(annotation, "constant", False):
            _check_constant(name, argument, place)
        return
    if type(cast("Any", argument)) is not tuple:
        kind = type(cast("Any", argument)).__name__
        raise ArgumentError(
            f"'{name}' expected a tuple, got a {kind} (Invalid {place}: '{kind}' is a subclass of "
            "'tuple'. Only plain tuples are accepted.)"
        )
    nodes = chain(getattr(annotation, "items", ()), repeat(getattr(annotation, "each", annotation)))
    for i, item in enumerate(cast("tuple[Any, ...]", argument)):
        _check_plain(name, next(nodes), item, f"item #{i} of {place}")


def _check_constant(name: str, argument: Any, place: str) -> None:
    constraint = import_module("cuda.tile.compilation").ConstantConstraint
    try:
        require(not isinstance(argument, int) or argument.bit_length() <= 64)
        constraint(as_array(argument) if isinstance(argument, np.generic) else argument)
    except TypeError:
        raise ArgumentError(
            f"'{name}' expected a constant that cuTile has, a number or a bool, got "
            f"{told(argument)} (Invalid {place}: Could not interpret object of type "
            f"'{type(cast('Any', argument)).__name__}' as a constant.)"
        ) from None


def as_array(argument: Any) -> Any:
    """A NumPy array in place of a torch tensor, sharing its memory, and where an array is that is
    on the GPU; a number in place of NumPy's own; in tuples and lists too."""
    if isinstance(argument, tuple | list):
        items = [as_array(item) for item in cast("Sequence[Any]", argument)]
        return items if isinstance(argument, list) else tuple(items)
    if isinstance(argument, np.ndarray):
        return cast("Any", argument)
    if isinstance(argument, np.generic):
        return cast("Any", argument.item())
    of_torch = type(argument).__module__.startswith("torch") and hasattr(argument, "device")
    storage = argument.untyped_storage() if of_torch else None
    if storage is None or storage.device.type != "cpu":
        try:
            there = ArrayArgument.on_gpu(argument)
        except ValueError as error:
            raise ArgumentError(f"expected {error}") from None
        if of_torch and there is None:
            raise ArgumentError(f"expected tensors on the CPU or on CUDA, got {argument.device}")
        return argument if there is None else there
    name = str(argument.dtype).removeprefix("torch.")
    tensor = argument.detach()
    if name not in _TORCH_BITS:
        return tensor.numpy()
    torch: Any = import_module("torch")
    bits: NDArray[Any] = tensor.view(getattr(torch, _TORCH_BITS[name])).numpy()
    return bits.view(getattr(ml_dtypes, name))


def _shape_of(array: AnyArray) -> Sequence[int]:
    return array.shape


def strides_of(array: AnyArray) -> list[int]:
    """Strides in elements."""
    if isinstance(array, ArrayArgument):
        return list(array.strides)
    return [stride // array.itemsize for stride in array.strides]


def _dims(annotation: Any, field: str, ndim: int) -> set[int]:
    dims = getattr(annotation, field, None) or ()
    for dim in dims:
        if not -ndim <= dim < ndim:
            raise ArgumentError(
                f"expected an axis of an array of rank {ndim}, got {dim} ({field} contains axis "
                f"{dim} but array rank is {ndim})"
            )
    return {dim % ndim for dim in dims}
