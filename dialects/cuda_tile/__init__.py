"""CUDA Tile IR: NVIDIA's tile language as a dialect, versions 13.1 to 13.5."""
