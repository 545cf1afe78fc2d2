"""Tiles: the ops of `cute`."""

from tilewright.lowering.interpreter.ops.tile import algebra, elements, pipeline, tensors

__all__ = ["algebra", "elements", "pipeline", "tensors"]
