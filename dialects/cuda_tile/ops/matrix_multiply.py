"""Multiplication of matrices: `lhs` (m x k) times `rhs` (k x n) plus `acc` (m x n), or batches of
them. Tile IR specification, floating point and integer.
"""

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.accepts import one_of
from tilewright.dialects.cuda_tile.attributes import SignednessAttr
from tilewright.dialects.cuda_tile.constraints import I8_TILE, tiles_of
from tilewright.dialects.cuda_tile.element_types import types_of
from tilewright.dialects.cuda_tile.ops.operation import PureOp, tile_op
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cuda_tile.versions import V13_3

ACCUMULATORS = {
    "f8E4M3FN": ("f16", "f32"),
    "f8E5M2": ("f16", "f32"),
    "f16": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f32": ("f32",),
    "f64": ("f64",),
}
"""The accumulators of `mmaf` for each type of element."""

SCALE_BLOCKS = {
    ("f8E4M3FN", "f8E8M0FNU"): (32,),
    ("f8E5M2", "f8E8M0FNU"): (32,),
    ("f4E2M1FN", "f8E8M0FNU"): (16, 32),
    ("f4E2M1FN", "f8E4M3FN"): (16,),
    ("f4E2M1FN", "fnv8E5M3FNU"): (16,),
}
"""How many elements along k one scale factor is for, by the types of elements and of factors."""


class Mma(PureOp):
    """A multiplication of matrices."""

    SAME_TYPES = "acc result"
    SAME_ELEMENTS = "lhs rhs"
    SAME_RANKS = "lhs rhs acc"

    def tile(self, name: str) -> TileType:
        """The type of an operand."""
        type_ = getattr(self, name).type
        assert isinstance(type_, TileType)
        return type_

    def verify_types(self) -> None:
        rank = self.tile("lhs").rank
        if rank not in (2, 3):
            raise self.fail(f"tiles of rank 2, or 3 with batches, got rank {rank}")
        for first, second, this, that in (
            ("lhs", "rhs", -1, -2),
            ("lhs", "acc", -2, -2),
            ("rhs", "acc", -1, -1),
        ):
            self.verify_extent(first, this, second, that)
            if rank == 3:
                self.verify_extent(first, 0, second, 0)

    def verify_extent(self, first: str, this: int, second: str, that: int) -> None:
        """Raise VerifyException where a dimension of one is not as long as that of another."""
        one, other = self.tile(first), self.tile(second)
        if one.shape[this] != other.shape[that]:
            rank = one.rank
            raise self.fail(
                f"dimension {this % rank} of {first} and {that % rank} of {second} of one size, "
                f"got {shown(one)} and {shown(other)}"
            )


MMAF_OPERAND = tiles_of(types_of("f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2"))
MMAF_RESULT = tiles_of(types_of("f16", "f32", "f64"))


@tile_op("cuda_tile.mmaf", 0x49, fast_acc=V13_3)
class MmaFOp(Mma):
    """A B + C, of (batches of) matrices: `mmaf %a, %b, %c : tile<4x8xf16>, tile<8x2xf16>,
    tile<4x2xf32>`. `fast_acc` lets Hopper accumulate fp8 as its tensor cores do."""

    assembly_format = "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)?"

    lhs = operand_def(MMAF_OPERAND)
    rhs = operand_def(MMAF_OPERAND)
    acc = operand_def(MMAF_RESULT)
    fast_acc = opt_prop_def(UnitAttr)
    result = result_def(MMAF_RESULT)

    def verify_types(self) -> None:
        super().verify_types()
        element, accumulator = self.tile("lhs").element_type, self.tile("acc").element_type
        legal = ACCUMULATORS[shown(element)]
        if shown(accumulator) not in legal:
            raise self.fail(
                f"acc of {one_of(legal)} where lhs and rhs are {element}, got {accumulator}; "
                f"nearest legal: {legal[-1]}"
            )


SCALED_OPERAND = tiles_of(types_of("f8E4M3FN", "f8E5M2", "f4E2M1FN"))
SCALE = tiles_of(types_of("f8E4M3FN", "f8E8M0FNU", "fnv8E5M3FNU"))
SCALED_RESULT = tiles_of(types_of("f32"))


@tile_op("cuda_tile.mmaf_scaled", 0x72, V13_3)
class MmaFScaledOp(Mma):
    """(A scaled) (B scaled) + C: each scale factor is that of 16 or 32 elements along k."""

    SAME_ELEMENTS = "lhs rhs, lhs_scale rhs_scale"
    SAME_RANKS = "lhs rhs acc lhs_scale rhs_scale"

    lhs = operand_def(SCALED_OPERAND)
    rhs = operand_def(SCALED_OPERAND)
    acc = operand_def(SCALED_RESULT)
    lhs_scale = operand_def(SCALE)
    rhs_scale = operand_def(SCALE)
    result = result_def(SCALED_RESULT)

    def verify_types(self) -> None:
        super().verify_types()
        for first, this, second, that in (
            ("lhs", -2, "lhs_scale", -2),
            ("rhs", -1, "rhs_scale", -1),
            ("lhs_scale", -1, "rhs_scale", -2),
        ):
            self.verify_extent(first, this, second, that)
            if self.tile("lhs").rank == 3:
                self.verify_extent(first, 0, second, 0)
        self._verify_blocks()

    def _verify_blocks(self) -> None:
        lhs, scale = self.tile("lhs"), self.tile("lhs_scale")
        element, factor = shown(lhs.element_type), shown(scale.element_type)
        legal = SCALE_BLOCKS.get((element, factor))
        if legal is None:
            factors = [f for e, f in SCALE_BLOCKS if e == element]
            raise self.fail(
                f"scales of {one_of(factors)} where elements are {element}, got {factor}; "
                f"nearest legal: {factors[0]}"
            )
        block, rest = divmod(lhs.shape[-1], scale.shape[-1])
        if rest or block not in legal:
            sizes = one_of([str(size) for size in legal])
            raise self.fail(
                f"a scale factor for every {sizes} of {lhs.shape[-1]} elements of {element} "
                f"along k, got {scale.shape[-1]} factors of {factor}"
            )


I32_TILE = tiles_of(types_of("i32"))


@tile_op("cuda_tile.mmai", 0x4A)
class MmaIOp(Mma):
    """A B + C, of (batches of) matrices: `mmai %a, %b, %c signed unsigned : tile<4x8xi8>,
    tile<8x2xi8>, tile<4x2xi32>`."""

    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<Word>($signedness_lhs) custom<Word>($signedness_rhs)"
    )

    lhs = operand_def(I8_TILE)
    rhs = operand_def(I8_TILE)
    acc = operand_def(I32_TILE)
    signedness_lhs = prop_def(SignednessAttr)
    signedness_rhs = prop_def(SignednessAttr)
    result = result_def(I32_TILE)
