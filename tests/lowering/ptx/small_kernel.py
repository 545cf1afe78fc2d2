"""A kernel around some lines of PTX."""


def kernel(body: str, parameters: str = ".param .u64 k_p") -> str:
    return (
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        f".visible .entry k({parameters})\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n"
        f".reg .f32 %f<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [k_p];\n{body}ret;\n}}\n"
    )
