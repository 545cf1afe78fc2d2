"""cuTile Python kernels: `@ct.kernel` functions on the CPU, and compiled for the GPU.

    import cuda.tile as ct
    import tilewright as tw

    tw.cutile.launch((8,), kernel, (a, b, c, 128))      # where the arrays are, in place
    tw.cutile.compile(kernel, (a, b, c, 128), "sm_90a") # its PTX
    tw.cutile.module(kernel, (a, b, c, 128))            # its Tile IR
    tw.cutile.predict(kernel, args, "sm_90a", search_space=space, grid_fn=grid) # the best first
    with tw.cutile.on_cpu():                            # or on_gpu()
        ct.launch(stream, (8,), kernel, (a, b, c, 128)) # as a script has it

Needs the extra `cutile` (PyPI cuda-tile), and no tileiras: the kernel goes through bytecode. The
CPU interprets that; for a GPU it is compiled by tilewright, which needs the extra `gpu` there.
"""

from tilewright.cutile.launches import (
    bytecode,
    compile,
    launch,
    module,
    on_cpu,
    on_gpu,
    signature,
)
from tilewright.cutile.prediction import predict

__all__ = ["bytecode", "compile", "launch", "module", "on_cpu", "on_gpu", "predict", "signature"]
