"""Reading bytecode leaves garbage collection as it was, and modules can be collected."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode

KERNEL = Path(__file__).parents[3] / "lowering/interpreter/cuda_tile/fixtures/saxpy.tileirbc"


def test_a_module_is_collected():
    frozen = gc.get_freeze_count() > 0
    module = read_bytecode(KERNEL.read_bytes())
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None and (gc.get_freeze_count() > 0) == frozen


@pytest.mark.parametrize("enabled", [True, False])
def test_collection_stays_as_it_was(enabled: bool):
    if not enabled:
        gc.disable()
    try:
        read_bytecode(KERNEL.read_bytes())
        assert gc.isenabled() == enabled
    finally:
        gc.enable()
