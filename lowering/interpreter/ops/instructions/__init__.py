"""Instructions, as atoms of `cute_nvgpu` and as ops of `ptx`."""

from tilewright.dialects.contents import modules_of

MODULES = modules_of(__name__)
"""All are read, so that their rules are known."""
