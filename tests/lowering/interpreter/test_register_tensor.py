"""Register tensors: what nothing has written, what a wgmma in flight has, what a fence orders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.register_tensor import (
    OPERAND,
    RegisterFile,
    RegisterTensor,
)

THREADS, SIZE = 128, 8
ALL = np.arange(THREADS)
EVEN = ALL[::2]
WHOLE = np.arange(SIZE)[None]
FRONT = np.arange(4)[None]
BACK = np.arange(4, 8)[None]
SPARSE = np.array([[0, 3, 5]])


@pytest.fixture
def file() -> RegisterFile:
    return RegisterFile(THREADS, {7: "'cute.gemm' at k.mlir:7", 8: "'cute.gemm' at k.mlir:8"})


@pytest.fixture
def tensor(file: RegisterFile) -> RegisterTensor:
    return file.tensor(1, ALL, SIZE, np.dtype(np.uint32))


def values(lanes: np.ndarray, places: np.ndarray, seed: int = 0) -> np.ndarray:
    rng = default_rng(seed)
    return rng.integers(0, 1 << 32, (len(lanes), places.shape[1]), dtype=np.uint32)


def fault(action: Callable[[], object]) -> Fault:
    with pytest.raises(Fault) as found:
        action()
    return found.value


@pytest.mark.parametrize("lanes", [ALL, EVEN, ALL[5:6]])
@pytest.mark.parametrize("places", [WHOLE, FRONT, SPARSE, SPARSE[:, ::-1]])
def test_what_is_written_is_read(tensor: RegisterTensor, lanes: np.ndarray, places: np.ndarray):
    wanted = values(lanes, places)
    tensor.write(lanes, places, wanted)
    assert_array_equal(tensor.read(lanes, places), wanted)


def test_places_of_each_thread(tensor: RegisterTensor):
    places = (ALL[:, None] + np.arange(3)) % SIZE
    wanted = values(ALL, places)
    tensor.write(ALL, places, wanted)
    assert_array_equal(tensor.read(ALL, places), wanted)
    assert fault(lambda: tensor.read(ALL, WHOLE)).lane == 0


def test_elements_that_are_not_chosen_stay(tensor: RegisterTensor):
    before, after = values(ALL, WHOLE), values(ALL, WHOLE, 1)
    tensor.write(ALL, WHOLE, before)
    chosen = default_rng(2).random((THREADS, SIZE)) < 0.5
    tensor.write_some(ALL, WHOLE, after, chosen)
    assert_array_equal(tensor.read(ALL, WHOLE), np.where(chosen, after, before))
    tensor.write_some(ALL, WHOLE, before, np.zeros((THREADS, SIZE), bool))
    assert_array_equal(tensor.read(ALL, WHOLE), np.where(chosen, after, before))


def test_an_element_that_nothing_has_written(tensor: RegisterTensor):
    tensor.write(ALL, FRONT, values(ALL, FRONT))
    tensor.write(ALL[:3], BACK, values(ALL[:3], BACK))
    tensor.read(ALL[:3], WHOLE)
    found = fault(lambda: tensor.read(ALL, WHOLE))
    assert found.message == "reads an element of a register tensor that nothing has written"
    assert found.lane == 3


def test_allocating_again_forgets(file: RegisterFile, tensor: RegisterTensor):
    tensor.write(ALL, WHOLE, values(ALL, WHOLE))
    assert file.tensor(1, EVEN, SIZE, np.dtype(np.uint32)) is tensor
    assert fault(lambda: tensor.read(ALL, WHOLE)).lane == 0
    tensor.read(ALL[1::2], WHOLE)


def test_a_result_in_flight(file: RegisterFile, tensor: RegisterTensor):
    wanted, first, second = values(ALL, FRONT), np.zeros(THREADS, int), np.ones(THREADS, int)
    tensor.write_result(ALL, FRONT, wanted, first, 7, "shape")
    tensor.write_result(ALL, BACK, wanted, second, 8, "shape")
    for action in (
        lambda: tensor.read(ALL, FRONT),
        lambda: tensor.write(ALL, FRONT, wanted),
        lambda: file.tensor(1, ALL, SIZE, np.dtype(np.uint32)),
    ):
        message = fault(action).message
        assert "an accumulator of 'cute.gemm' at k.mlir:7, which no wgmma.wait_group" in message
    file.settle(ALL, second)
    assert_array_equal(tensor.read(ALL, FRONT), wanted)
    assert "k.mlir:8" in fault(lambda: tensor.read(ALL, WHOLE)).message
    file.settle(ALL, second + 1)
    assert_array_equal(tensor.read(ALL, BACK), wanted)


def test_threads_wait_for_themselves(file: RegisterFile, tensor: RegisterTensor):
    tensor.write_result(ALL, WHOLE, values(ALL, WHOLE), np.zeros(THREADS, int), 7, "shape")
    file.settle(EVEN, np.ones(len(EVEN), int))
    tensor.read(EVEN, WHOLE)
    assert fault(lambda: tensor.read(ALL, WHOLE)).lane == 1


def test_accumulating_in_flight(tensor: RegisterTensor):
    """Of all of one result, whose registers then are another one's."""
    wanted, group = values(ALL, WHOLE), np.zeros(THREADS, int)
    tensor.write_result(ALL, WHOLE, wanted, group, 7, "64x8x16")
    assert_array_equal(tensor.accumulators(ALL, WHOLE), wanted)
    for places, shape in ((WHOLE, "64x16x16"), (BACK, "64x8x16"), (WHOLE[:, ::-1], "64x8x16")):
        found = fault(lambda places=places, shape=shape: tensor.take_over(ALL, places, shape, 8))
        assert found.message.startswith("accesses an accumulator of 'cute.gemm' at k.mlir:7")
    tensor.take_over(ALL, WHOLE, "64x8x16", 8)
    for look in (tensor.read, tensor.accumulators):
        message = fault(lambda look=look: look(ALL, WHOLE)).message
        assert message == "use of an accumulator that 'cute.gemm' at k.mlir:8 has overwritten"
    tensor.write(ALL, BACK, values(ALL, BACK))
    tensor.read(ALL, BACK)


def test_what_a_thread_wrote_needs_a_fence(file: RegisterFile, tensor: RegisterTensor):
    tensor.write(ALL, WHOLE, values(ALL, WHOLE))
    file.fence(ALL)
    tensor.take_over(ALL, WHOLE, "shape", 7)
    tensor.write(ALL[9:10], BACK, values(ALL[9:10], BACK))
    tensor.take_over(ALL, FRONT, "shape", 7)
    found = fault(lambda: tensor.take_over(ALL, WHOLE, "shape", 7))
    assert "operand C that were written after the last wgmma.fence" in found.message
    assert found.lane == 9


def test_an_operand_in_flight(file: RegisterFile, tensor: RegisterTensor):
    tensor.write(ALL, WHOLE, values(ALL, WHOLE))
    tensor.issue(ALL, FRONT, OPERAND, np.zeros(THREADS, int), 7)
    tensor.read(ALL, WHOLE)
    tensor.write(ALL, BACK, values(ALL, BACK))
    message = fault(lambda: tensor.write(ALL, FRONT, values(ALL, FRONT))).message
    assert message.startswith("overwrites registers of operand A of 'cute.gemm' at k.mlir:7")
    file.settle(ALL, np.ones(THREADS, int))
    tensor.write(ALL, FRONT, values(ALL, FRONT))


def test_a_place_that_the_tensor_does_not_have(tensor: RegisterTensor):
    """As a loop may compute it, of single threads too."""
    tensor.write(ALL, WHOLE, values(ALL, WHOLE))
    places = np.zeros((THREADS, 1), np.int64)
    places[2] = SIZE
    for wrong, lane, said in ((places, 2, SIZE), (places - SIZE - 1, 0, -SIZE - 1)):
        for action in (
            lambda wrong=wrong: tensor.read(ALL, wrong),
            lambda wrong=wrong: tensor.write(ALL, wrong, values(ALL, wrong)),
        ):
            found = fault(action)
            assert found.message == f"accesses element {said} of a register tensor of {SIZE}"
            assert found.lane == lane
