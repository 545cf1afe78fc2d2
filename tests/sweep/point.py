"""A point: an op of Tile IR with types of its operands and results, and its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import Any

from surroundings import NOTHING, Surroundings
from swept_shapes import PITCH, Shape
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.dialect import CUDA_TILE
from tilewright.dialects.cuda_tile.ops.operation import OPS, CudaTileOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import DYNAMIC, TensorViewType, TileType, TileView
from tilewright.dialects.op_facts import SEGMENTS

assert CUDA_TILE  # whose import registers OPS


@dataclass(frozen=True)
class Point:
    """An op with the types of its operands, none where an optional one is missing, of its
    results, and its properties; of a fold the op that combines; `turned` operands lie in memory
    with their last dimensions exchanged; what is around the op in its kernel."""

    op: type[CudaTileOp]
    operands: tuple[tuple[Attribute, ...], ...]
    results: tuple[Attribute, ...]
    properties: tuple[tuple[str, Attribute], ...] = ()
    combine: Point | None = None
    turned: tuple[bool, ...] = ()
    around: Surroundings = NOTHING

    def __reduce__(self) -> Any:
        # Pickle does not find the classes of ops in their modules.
        return _point, (self.op.name, *(getattr(self, one.name) for one in fields(self)[1:]))

    @property
    def name(self) -> str:
        """The op and what tells the point from others."""
        words = [self.op.name.removeprefix("cuda_tile.")]
        words += [f"{name}={value}".replace("#cuda_tile.", "") for name, value in self.properties
                  if name != SEGMENTS]  # fmt: skip
        words += [self.combine.name] if self.combine else []
        types = ["-" if not types else "*".join(map(shown, types)) for types in self.operands]
        words += [", ".join(types), "->", ", ".join(map(shown, self.results))]
        words += ["turned"] * any(self.turned) + [self.around.words] * (self.around != NOTHING)
        return " ".join(words)

    @property
    def elements(self) -> frozenset[str]:
        """The types of numbers that it is about."""
        types = [*self.results, *(type_ for types in self.operands for type_ in types)]
        kinds = [getattr(getattr(type_, "tensor_view", type_), "element_type", None)
                 for type_ in types]  # fmt: skip
        return frozenset(shown(getattr(kind, "pointee_type", kind)) for kind in kinds if kind)

    def features(self) -> list[Any]:
        """Everything that tells it from another point of its op, in parts; of a fold, the rest
        follows."""
        given = [(name, getattr(value, "is_splat", value)) for name, value in self.properties
                 if name != "identities"]  # fmt: skip
        parts: list[Any] = [self.combine and self.combine.op, self.turned, *given]
        results, first = () if self.combine else self.results, None
        for place, types in enumerate((*self.operands, *((type_,) for type_ in results))):
            parts.append((place, len(types)))
            for type_ in types[:1]:
                parts += [(place, *part) for part in _parts(type_)]
                shape = getattr(type_, "tile_shape", getattr(type_, "shape", None))
                if shape is not None:
                    first = first or shape
                    parts.append((place, "shape", _beside(first, shape)))
        return parts


def _beside(first: Shape, shape: Shape) -> Any:
    """How a shape differs from the first of an op: in rank, or from which dimension on, and by how
    much; that as it is."""
    if shape is first or len(shape) != len(first):
        return shape if shape is first else len(shape) - len(first)
    changes = [extent / own for own, extent in zip(first, shape, strict=True)]
    others = [axis for axis, change in enumerate(changes) if change != 1]
    return (*others[:1], "by", prod(changes))


def _point(name: str, *parts: Any) -> Point:
    return Point({op.name: op for op in OPS}[name], *parts)


def _parts(type_: Attribute) -> list[tuple[Any, ...]]:
    """Everything that tells a type from others, in parts."""
    if isinstance(type_, TileType):
        return [("element", type_.element_type)]
    if isinstance(type_, TensorViewType):
        return [(type_.shape[0] == DYNAMIC, type_.strides[-1] == 1)]
    if not isinstance(type_, TileView):
        return []
    tensor, by = type_.tensor_view, getattr(type_, "traversal_strides", (0,))[0]
    kind = "dynamic" if tensor.shape[0] == DYNAMIC else tensor.shape[0] % 2
    kind = "pitched" if PITCH in tensor.strides and kind == 1 else kind
    order = getattr(type_, "dim_map", (0,))[0], getattr(type_, "sparse_dim", -1)
    return [
        ("element", tensor.element_type), (type_.name, type_.padding_value), (type_.name, *order),
        (kind, tensor.strides[-1] == 1), ("by", by if by == 3 else by / type_.tile_shape[0]),
    ]  # fmt: skip


Properties = dict[str, Attribute]
Frame = tuple[Point, Sequence[Properties]]
"""A point without properties, and those that it may have, which its verifier looks at."""


def verified(point: Point, properties: Properties) -> Point | None:
    """The point with these properties where the verifier takes it."""
    if point.op.facts.segmented:
        sizes = [len(types) for types in point.operands]
        properties = {**properties, SEGMENTS: DenseArrayBase.from_list(IntegerType(32), sizes)}
    whole = replace(point, properties=tuple(properties.items()))
    values = Block(arg_types=[type_ for types in point.operands for type_ in types]).args
    made = point.op.create(operands=values, result_types=point.results, properties={**properties})
    try:
        if point.combine is None:
            made.verify_()
        else:
            made.verify_types()
    except VerifyException:
        return None
    return whole
