"""CUDA Tile IR bytecode: `.tileirbc` files, which cuTile and every other front end emit and
NVIDIA's `tileiras` compiles. Versions 13.1 to 13.5, read and written.

    container     the file: header, sections, tables
    cursor        reading numbers; encoder: writing them
    strings, types, constants, attributes, debug_info      what the tables hold, both directions
    codecs        how properties are read and written
    op_format     how ops lie in the bytes, derived from their definitions
    read_ops, read_module, write_ops, write_module
    layout        what lets a file be written exactly as it was read
    target        `tilewright-opt -t tileirbc`

What a file says that no other knows is an error with the offset of the byte (`BytecodeError`).
"""
