"""The GPU of this machine, which the tests here need."""

from __future__ import annotations

import pytest

from tilewright.launch.launcher import LaunchError, device_arch


def needs_gpu(arch: str = "") -> pytest.MarkDecorator:
    """Skips a test, with the reason, where there is no GPU of a target, by default of any."""
    try:
        found = device_arch()
        why = None if arch in ("", found) else f"{arch}, got {found}"
    except LaunchError as error:
        why = str(error)
    return pytest.mark.skipif(why is not None, reason=f"needs a GPU: {why}")
