"""The kinds of programs that are generated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from copies import matrices, tiled_copies
from draw import Draw
from functions import functions
from mmas import register_mmas, ummas, warp_gemms, warpgroup_gemms, wgmmas
from ptx_texts import ptx_texts
from reductions import reductions
from scalars import blocks, scalars, vectors
from shared_orders import shared_orders
from tcgen05_orders import tcgen05_orders
from tile_attention import tile_attention
from tile_gemms import tile_gemms
from tile_memory import tile_memory
from tile_poison import tile_poison
from tile_products import tile_products, tile_scaled
from tile_rows import tile_rows
from tile_shared import tile_shared
from tile_values import tile_values
from tiles import tiles
from tma import tma
from tmem_lifetimes import tmem_lifetimes
from triton_accesses import triton_accesses
from triton_values import triton_values
from view_tensor_memory import view_tensor_memory
from view_warpgroups import view_warpgroups
from views import views
from wgmma_orders import wgmma_orders


class Case(Protocol):
    """What a generator gives: a text, and what is wrong with what comes of it."""

    @property
    def text(self) -> str: ...

    def difference(self) -> str | None: ...


KINDS: dict[str, Callable[[Draw], Case]] = {
    generator.__name__: generator
    for generator in (
        scalars, vectors, blocks, functions, tiled_copies, matrices, tma, reductions, views,
        view_tensor_memory, view_warpgroups,
        register_mmas, warp_gemms, warpgroup_gemms, wgmmas, ummas, wgmma_orders, tcgen05_orders,
        shared_orders, tmem_lifetimes,
        tiles, tile_gemms, tile_attention, tile_products, tile_scaled, tile_rows,
        tile_shared, tile_values,
        tile_poison, tile_memory, triton_accesses, triton_values, ptx_texts,
    )
}  # fmt: skip


def drawn(kind: str, seed: int) -> tuple[Case, list[int]]:
    """The program of a seed, and the choices that make it."""
    draw = Draw(f"{kind} {seed}")
    return KINDS[kind](draw), draw.choices
