"""CUDA Tile IR executed on whole tiles: NumPy arrays with the blocks of the grid in front.

    entry  -> kernel.run_kernel(entry, Launch(grid), args)

`kernel` binds arguments and prepares; `machine` runs gangs of blocks; `blocks` are regions made
ready; `rules` say how each op is executed, over `elements`, `*_arithmetic`, `float_functions`,
`conversions`; memory is `allocations` seen through `footprints`, and its model `token_order`
(within a block) and `block_conflicts` (between blocks).
"""
