"""The shapes that points have, and the ops that have no points."""

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = (
    (), (1,), (2,), (16,), (32,), (128,), (512,), (8192,), (1, 1), (1, 64), (64, 1), (8, 32),
    (128, 64), (1, 4, 8), (4, 1, 8), (4, 8, 1), (2, 4, 16), (1, 2, 4, 8), (2, 1, 4, 8),
    (2, 4, 1, 8), (2, 4, 8, 1), (2, 2, 2, 2, 4),
)  # fmt: skip
"""A scalar, one element, less than a warp, a warp, a CTA, more than it wants in registers; of every
rank, with dimensions of one in each place."""
PRODUCTS = (
    (1, 1, 1), (1, 64, 2), (64, 1, 32), (8, 8, 32), (16, 8, 16), (16, 16, 64), (32, 16, 64),
    (64, 8, 32), (64, 64, 64), (128, 64, 32), (128, 256, 64), (256, 32, 32),
)  # fmt: skip
"""M, N and K: too small for an MMA, of a warp, of a warpgroup, of 128 rows and more."""
PITCH = 32
"""What strides are multiples of where TMA is to copy parts of rows."""
BY_HAND = (
    "module", "entry", "global", "get_global", "alloca", "assert", "assume", "print_tko", "for",
    "loop", "if", "break", "continue", "return", "yield", "make_tensor_view",
    "multimem_load_reduce_view_tko", "multimem_reduce_view_tko", "multimem_store_view_tko",
)  # fmt: skip
"""What has regions of any ops, memory of its own, or memory that every op of a view is given:
`every_op` has kernels of these."""
