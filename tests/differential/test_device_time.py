"""How `benchmarks/device_time.py` times launches, on a GPU whose clock falls with its heat."""

from math import exp

import device_time
import pytest


class HotGpu:
    """A GPU that is slower in the heat of launches of full power, and the host's clock."""

    def __init__(self) -> None:
        self.heat = self.now = 0.0

    def timed(self, launch: device_time.Launch) -> float:
        """The milliseconds of a launch."""
        cool, power = launch()
        took = cool * (1 + max(self.heat - 0.6, 0) / 1.2)
        self.heat = power + (self.heat - power) * exp(-took / 50)
        return took

    def perf_counter(self) -> float:
        """The seconds of the host, one tenth of a millisecond later than before."""
        self.now += 1e-4
        self.zero_()
        return self.now

    def zero_(self) -> None:
        """Flush the L2, in as long."""
        self.heat *= exp(-0.1 / 50)


def test_launches_keep_no_heat_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best one is the same whatever else is measured beside it."""
    gpu = HotGpu()
    monkeypatch.setattr(device_time, "_flush", lambda: gpu)
    monkeypatch.setattr(device_time, "_timed", gpu.timed)
    monkeypatch.setattr(device_time, "time", gpu)
    kernels = {"first": (1.5, 1.0), "second": (1.51, 1.0), "third": (1.52, 1.0)}
    spilled = {f"spilled {number}": (30.0 - number, 0.1) for number in range(3)}
    for beside in ({}, spilled):
        every = kernels | beside
        times = device_time.medians({name: lambda own=own: own for name, own in every.items()})
        assert times == pytest.approx({name: cool for name, (cool, _) in every.items()})
