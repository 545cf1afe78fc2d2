"""A driver of Triton for the GPU of this machine, which launches what tilewright compiled: what
Triton asks of NVIDIA's, as it asks for it (`triton.runtime.driver`).

Triton imports this module as it imports `tilewright.triton.compiler`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

_NVIDIA: Any = import_module("triton.backends.nvidia.driver")


class Driver(_NVIDIA.CudaDriver):
    """NVIDIA's, but for loading and launching. Where one is made, tilewright compiles in place of
    NVIDIA's back end from then on. `apart`: its devices have other numbers than NVIDIA's, by which
    Triton keeps compiled kernels apart. `launches` counts them."""

    def __init__(self, *, apart: bool = False):
        _NVIDIA.GPUDriver.__init__(self)
        registered: Any = import_module("triton.backends")
        backend: Any = import_module("tilewright.triton.compiler").Backend
        registered.backends.pop("nvidia", None)
        registered.backends["tilewright"] = registered.Backend(backend, Driver)
        torch: Any = import_module("torch")
        function: Any = import_module("triton.runtime.jit").JITFunction
        kernel: Any = import_module("triton.compiler").CompiledKernel
        relaunch = import_module("tilewright.triton.relaunch")
        function.run = relaunch.relaunching(function.run)
        kernel.__getitem__ = relaunch.running(kernel.__getitem__)
        self.launches = 0
        self.utils = SimpleNamespace(
            load_binary=_load_binary, unload_module=_unload_module,
            get_device_properties=_get_device_properties,
        )  # fmt: skip
        self.launcher_cls = _launcher
        if apart:
            self.get_current_device = lambda: ~torch.cuda.current_device()
            for name in ("set_current_device", "get_current_stream", "get_device_capability"):
                setattr(self, name, _by_index(getattr(self, name)))

    @staticmethod
    def is_active() -> bool:
        """True where the environment chooses it."""
        chosen = os.environ.get("TRITON_DEFAULT_BACKEND") == "tilewright"
        return chosen and _NVIDIA.CudaDriver.is_active()

    def get_active_torch_device(self) -> Any:
        """The device that is current."""
        return import_module("torch").device("cuda", _index(self.get_current_device()))


def _by_index(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the driver's number of a device, of either number."""

    def of_device(device: int | None = None) -> Any:
        return function(~device if device is not None and device < 0 else device)

    return of_device


def _index(device: int) -> int:
    """The driver's number of a device."""
    return device if device >= 0 else ~device


def _load_binary(name: str, code: bytes, shared: int, device: int) -> tuple[Any, ...]:
    """The kernel's code, the kernel on the GPU, its registers and spills, and the threads of a
    block at most, which are not those that Triton's option says."""
    from tilewright.triton.gpu import DeviceKernel

    major, minor = import_module("torch").cuda.get_device_capability(_index(device))
    kernel = DeviceKernel(code, name, 10 * major + minor)
    return kernel.code, kernel, *kernel.registers(), 1024


def _unload_module(_: Any) -> None:
    """The GPU's module goes with the kernel."""


def _get_device_properties(device: int) -> dict[str, int]:
    from tilewright.triton.gpu import properties

    return properties(_index(device))


def _launcher(source: Any, metadata: Any) -> Any:
    from tilewright.triton.gpu import KernelLauncher

    return KernelLauncher(source.signature, metadata)
