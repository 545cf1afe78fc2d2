"""Commands as their tests call them."""

from pathlib import Path

import pytest
from example_files import EXAMPLES

from tilewright.tools.tilewright import main

AXPY = str(EXAMPLES / "axpy.mlir")
COPY = """
func.func @copy(%from: memref<2x4x{0}>, %to: memref<2x4x{0}>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %j = "gpu.thread_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  %v = memref.load %from[%j, %i] : memref<2x4x{0}>
  memref.store %v, %to[%j, %i] : memref<2x4x{0}>
  func.return
}}
"""


def axpy(*words):
    main(["run", AXPY, "--grid", "2", "--block", "64,1", *words])


def copy(element, *words):
    Path("copy.mlir").write_text(COPY.format(element))
    main(["run", "copy.mlir", "--grid", "1", "--block", "4,2,1", *words])


def shown(capsys, *words):
    main(words)
    return capsys.readouterr().out


def refused(capsys, command, *words):
    with pytest.raises(SystemExit) as leaving:
        command(*words)
    captured = capsys.readouterr()
    assert leaving.value.code == 1 and not captured.out
    return captured.err
