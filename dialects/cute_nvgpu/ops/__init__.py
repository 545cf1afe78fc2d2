"""The ops of `cute_nvgpu`, one file a tier or a kind of instruction."""
