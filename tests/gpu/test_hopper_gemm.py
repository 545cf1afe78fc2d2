"""The GEMMs of examples/hopper_gemm.py on a Hopper GPU equal the interpreter, bit for bit."""

import pytest
from hopper_gemm_problems import problem
from hopper_gemm_schedule import OPERANDS, TILES, GemmSchedule, legal, schedule

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch

SCHEDULES = (*TILES, schedule(64, 64, streamed=True))
CASES = [(own, x, False) for own in SCHEDULES for x in OPERANDS if legal(own, False, x)]
CASES += [(own, "bf16", True) for own in SCHEDULES if legal(own, True)]


def _no_hopper() -> str | None:
    try:
        arch = device_arch()
    except LaunchError as error:
        return str(error)
    return None if arch == "sm_90a" else f"the kernels are for sm_90a, this is {arch}"


@pytest.mark.parametrize("own, element, row_major", CASES)
def test_gpu_equals_the_interpreter(own: GemmSchedule, element: str, row_major: bool):
    if (why := _no_hopper()) is not None:
        pytest.skip(f"needs a GPU: {why}")
    text, args, launch = problem(own, element, row_major=row_major)
    on_chip = tw.compile(text, "sm_90a").launch(*args, **launch)[2]
    here = tw.interpret(text, args=args, level="ptx", arch="sm_90a", **launch)[2]
    assert on_chip.tobytes() == here.tobytes()
