"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import attributes_of, modules_of, ops_of
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UMMA_ATOM_TYPES, WGMMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.wmma import WMMA_ACCESS_TYPES

_OPS = modules_of("tilewright.dialects.cute_nvgpu.ops")

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    ops_of(*_OPS),
    [
        *attributes_of(*modules_of("tilewright.dialects.cute_nvgpu.types"), *_OPS),
        *MMA_ATOM_TYPES.values(),
        *WGMMA_ATOM_TYPES.values(),
        *UMMA_ATOM_TYPES.values(),
        *WMMA_ACCESS_TYPES.values(),
    ],
)
