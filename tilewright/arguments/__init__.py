"""The arguments of kernels: one binding of arrays, tensor maps and numbers, on the CPU and the GPU.

parameters   what a kernel's callers give it, by name and type
binding      arguments against parameters: arrays are placed in a memory, numbers become bits
interpreted  what an interpreted kernel gets of them
device_memory, extents, arrays, tensor_map, dtypes
"""
