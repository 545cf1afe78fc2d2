"""Upstream dialects."""

from tilewright.dialects.contents import modules_of

MODULES = modules_of(__name__)
"""All are read, so that their rules are known."""
