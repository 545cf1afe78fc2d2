"""A back end of Triton that compiles by tilewright: what `triton.compile` asks of one.

Triton imports this module wherever tilewright is installed (the entry point `triton.backends`), so
that it loads nothing else of tilewright's on import.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

_NVIDIA: Any = import_module("triton.backends.nvidia.compiler")
_BINARY = "tilewright"
_HINTS = {"num_warps": "ttg.num-warps", "num_ctas": "ttg.num-ctas", "maxnreg": "ttg.maxnreg"}
"""The options of a launch that are hints, and the attributes of a module that say them, as Triton
names them behind TTIR."""


class Backend(_NVIDIA.CUDABackend):
    """NVIDIA's, whose stages behind TTIR are its text, with the hints, and tilewright's PTX."""

    def __init__(self, target: Any):
        _NVIDIA.CUDABackend.__init__(self, target)
        self.binary_ext = _BINARY

    @staticmethod
    def supports_target(target: Any) -> bool:
        """True where this is the back end that stands in for NVIDIA's."""
        registered: Any = import_module("triton.backends").backends
        return target.backend == "cuda" and "nvidia" not in registered

    def hash(self) -> str:
        """The name that compiled kernels are kept by: of the target and of tilewright's files."""
        from tilewright.launch.compile_cache import key_of

        return key_of(_BINARY.encode(), arch=self.target.arch)

    def add_stages(self, stages: dict[str, Any], options: Any, *given: Any) -> None:
        """TTIR, its text, and PTX. Raises CompileError for a kernel of Gluon's, which has no
        TTIR."""
        _NVIDIA.CUDABackend.add_stages(self, stages, options, *given)
        own = {"ttir": stages.get("ttir"), _BINARY: partial(_text, options=options)}
        if own["ttir"] is None:
            from tilewright.source.diagnostic import CompileError, Diagnostic

            raise CompileError(Diagnostic("expected a kernel of Triton's, got one of Gluon's"))
        stages.clear()
        stages.update(own, ptx=self._ptx)

    def _ptx(self, code: bytes, metadata: dict[str, Any]) -> str:
        from tilewright.triton.gpu import kernel_of, of_whole_shapes

        kernel = kernel_of(of_whole_shapes(code), metadata["name"], self.target.arch)
        metadata["shared"] = kernel.shared_bytes
        return kernel.ptx


def _text(module: Any, metadata: dict[str, Any], options: Any) -> bytes:
    from tilewright.lowering.triton.descriptors import WHOLE
    from tilewright.passes.cuda_tile.scheduling.unordered_loads import DISJOINT

    metadata |= {"name": module.get_entry_func_name(), "shared": 0, "tmem_size": 0}
    builder: Any = import_module("triton._C.libtriton").ir.builder(module.context)
    for option, attribute in _HINTS.items():
        if (number := getattr(options, option)) is not None:
            module.set_attr(attribute, builder.get_int32_attr(number))
    module.set_attr(DISJOINT, builder.get_bool_attr(True))
    module.set_attr(WHOLE, builder.get_bool_attr(False))
    if not options.enable_fp_fusion:
        module.set_attr("tt.fp_fusion", builder.get_bool_attr(False))
    return str(module).encode()
