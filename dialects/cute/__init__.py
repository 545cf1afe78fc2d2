"""CuTe layouts in pure Python, and the algebra on them.

Layout.parse("((4,8),2):((32,1),16)")       a function from coordinates to indices
parse_layout("S<3,4,3> o 0 o (8,64):(64,1)")    the same through a swizzle
logical_divide(layout, (32, 8))             the algebra, under CuTe's names
"""

from tilewright.dialects.cute.algebra import (
    Tiler,
    coalesce,
    complement,
    composition,
    equivalent,
    filter,
)
from tilewright.dialects.cute.coordinate import (
    coprofile,
    crd2crd,
    crd2idx,
    dice,
    idx2crd,
    make_basis_like,
    slice_,
)
from tilewright.dialects.cute.int_tuple import (
    Coord,
    IntTuple,
    LayoutError,
    ScaledBasis,
    Shape,
    Stride,
    compatible,
    congruent,
    depth,
    elem_scale,
    flatten,
    inner_product,
    prefix_product,
    product,
    product_each,
    rank,
    repeat_like,
    shape_div,
    size,
    transform,
    transform_leaf,
    tuple_max,
    unflatten,
    weakly_congruent,
    zip_,
)
from tilewright.dialects.cute.inverse import (
    left_inverse,
    max_common_layout,
    max_common_vector,
    nullspace,
    right_inverse,
)
from tilewright.dialects.cute.layout import (
    Layout,
    append,
    append_to_rank,
    dice_layout,
    group_modes,
    make_identity_layout,
    make_layout,
    make_layout_like,
    make_ordered_layout,
    prepend,
    prepend_to_rank,
    select,
    slice_and_offset,
    slice_layout,
)
from tilewright.dialects.cute.recast import downcast, recast_layout, upcast
from tilewright.dialects.cute.swizzle import ComposedLayout, Swizzle, parse_layout
from tilewright.dialects.cute.symbolic.tuples import ceil_div
from tilewright.dialects.cute.text import LayoutParseError
from tilewright.dialects.cute.tiling import (
    blocked_product,
    flat_divide,
    flat_product,
    logical_divide,
    logical_product,
    raked_product,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)

__all__ = [
    "ComposedLayout", "Coord", "IntTuple", "Layout", "LayoutError", "LayoutParseError",
    "ScaledBasis", "Shape", "Stride", "Swizzle", "Tiler", "append", "append_to_rank",
    "blocked_product", "ceil_div", "coalesce", "compatible", "complement", "composition",
    "congruent", "coprofile", "crd2crd", "crd2idx", "depth", "dice", "dice_layout", "downcast",
    "elem_scale", "equivalent", "filter", "flat_divide", "flat_product", "flatten", "group_modes",
    "idx2crd", "inner_product", "left_inverse", "logical_divide", "logical_product",
    "make_basis_like", "make_identity_layout", "make_layout", "make_layout_like",
    "make_ordered_layout", "max_common_layout", "max_common_vector", "nullspace", "parse_layout",
    "prefix_product", "prepend", "prepend_to_rank", "product", "product_each", "raked_product",
    "rank", "recast_layout", "repeat_like", "right_inverse", "select", "shape_div", "size",
    "slice_", "slice_and_offset", "slice_layout", "tile_to_shape", "tiled_divide", "tiled_product",
    "transform", "transform_leaf", "tuple_max", "unflatten", "upcast", "weakly_congruent", "zip_",
    "zipped_divide", "zipped_product",
]  # fmt: skip
