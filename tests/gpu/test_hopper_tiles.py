"""The examples of tiles that Hopper runs, on the GPU of this machine: equal to the interpreter bit
for bit, and to NumPy as the tests of the interpreter have it; and what kernels print there.

Skipped, with the reason, where there is no such GPU.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch

TESTS = Path(__file__).parents[1] / "lowering"

import test_tile_examples as examples  # noqa: E402
from printing_kernel import FAILED, NUMBERS, OF_EVERY_TYPE, PRINTED, of_every_type  # noqa: E402


def run_on_chip(
    text: str,
    *args: Any,
    threads: int,
    grid: tuple[int, ...],
    arch: str,
    numerics: str = "hardware",
) -> list[NDArray[Any]]:
    """The arrays after a run on the chip, which the interpreter gives as well."""
    launch: dict[str, Any] = {"grid": grid, "block": (threads,)}
    on_chip = tw.compile(text, arch).launch(*args, **launch)
    here = tw.interpret(text, args=args, arch=device_arch(), numerics=numerics, **launch)
    for there, expected in zip(on_chip, here, strict=True):
        assert there.tobytes() == expected.tobytes()
    return on_chip


@pytest.fixture(autouse=True)
def chip(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        arch = device_arch()
    except LaunchError as error:
        pytest.skip(f"needs a GPU: {error}")
    if arch != "sm_90a":
        pytest.skip(f"needs sm_90a, this is {arch}")
    monkeypatch.setattr(examples, "run", run_on_chip)


HOPPER = [name for name, row in examples.GEMMS.items() if row[0] in ("sm_80", "sm_90a")]


@pytest.mark.parametrize("size", [(128, 256, 64), (200, 300, 136)])
@pytest.mark.parametrize("name", HOPPER)
def test_gemm(name: str, size: tuple[int, int, int]):
    examples.test_gemm(name, size, "hardware")


def test_other_gemms():
    examples.test_gemm_of_a_sparse_matrix((256, 136, 96))
    examples.test_gemm_of_a_sparse_matrix_by_warpgroups((256, 136, 192))
    examples.test_gemm_of_batches()


@pytest.mark.parametrize("causal", [0, 1])
def test_attention(causal: int):
    """exp2 and the division are exact to the bit, so that the weights are."""
    examples.test_attention("tile_attention_sm90", causal)


def printed_on_chip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of the script that prints, in a process of its own."""
    script = [sys.executable, str(TESTS / "printing_kernel.py"), *arguments]
    return subprocess.run(script, capture_output=True, text=True)


@pytest.mark.parametrize("n", [7, 1])
def test_what_is_printed(n: int):
    """Where an assertion fails the kernel ends with an error, and says so before; its context is
    lost."""
    done = printed_on_chip(str(n))
    printed = PRINTED.format(n=n, fits=int(n > 1)) + (FAILED if n == 1 else "")
    assert (done.returncode, done.stdout) == (int(n == 1), printed), done.stderr


def test_what_is_printed_of_every_type_and_of_the_heap(capsys: pytest.CaptureFixture[str]):
    """In the order of the chip's blocks."""
    tw.interpret(of_every_type(), args=NUMBERS, **OF_EVERY_TYPE)
    done = printed_on_chip()
    here = capsys.readouterr().out.splitlines()
    assert sorted(done.stdout.splitlines()) == sorted(here) and here, done.stderr
