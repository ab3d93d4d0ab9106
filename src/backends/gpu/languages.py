"""What OpenCL C and CUDA C say differently."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FixedBitwidthType, Float16Type, Float32Type, IndexType, IntegerType, VectorType
from xdsl.ir import Attribute

from ...dialects.warp import FragmentType
from ...errors import TilewrightError
from .fragments import IN_PTX, ONE_BY_ONE

RESERVED = frozenset(
    "asm auto bool break case char const continue default do double else enum extern float for goto half half_bits if "
    "int inline kernel local global constant private long register restrict return short signed sizeof static struct "
    "switch this typedef uint ulong union unsigned ushort uchar void volatile while class template new delete "
    "operator public protected namespace using try catch throw true false barrier main staged held".split()
)
"""Words that C, C++, OpenCL or CUDA have taken, and names that kernels have for arrays."""


def identifier(text: str) -> str:
    """A name like `text` for something in a kernel."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return f"k_{name}" if not name[:1].isalpha() else f"{name}_" if name in RESERVED else name


@dataclass(frozen=True)
class Language:
    """Words of a C for kernels.  A half is its 16 bits in memory; `prelude` converts it, `head` begins a kernel.

    `fragments` is what operations of dialect `warp` call, in a kernel that has some.  `spaces` are the words for global
    and for shared memory in types of pointers, `vectors` a type of so many bytes and its zero.
    """

    name: str
    suffix: str
    head: str
    pointer: str
    shared: str
    block: str
    thread: str
    barrier: str
    unroll: str
    prelude: str
    fragments: str
    aligned: str
    spaces: tuple[str, str]
    vectors: dict[int, tuple[str, str]]
    types: dict[int, str] = field(default_factory=dict[int, str])

    def kind(self, element: Attribute) -> str:
        """The C type of an element, a condition or an index."""
        match element:
            case IndexType():
                return "int"
            case Float32Type():
                return "float"
            case Float16Type():
                return "half_bits"
            case VectorType():
                return self.vector(element)[0]
            case FragmentType():
                return f"{element.role.data}_fragment"
            case IntegerType() if element.width.data in self.types:
                return self.types[element.width.data]
            case _:
                raise TilewrightError(
                    "unsupported", f"a kernel in {self.name}", "f16, f32 or integers to 32 bits", str(element)
                )

    def vector(self, kind: VectorType) -> tuple[str, str]:  # pyright: ignore[reportMissingTypeArgument]
        """The type that moves a vector, and its zero."""
        element = kind.element_type
        assert isinstance(element, FixedBitwidthType)
        return self.vectors[element.size * kind.element_count()]


OPENCL = Language(
    name="OpenCL C",
    suffix="cl",
    head="__kernel __attribute__((reqd_work_group_size({threads}, 1, 1))) void {name}({arguments})",
    pointer="__global {const}{kind} *restrict {name}",
    shared="__local",
    block="(int)get_group_id(0)",
    thread="(int)get_local_id(0)",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    unroll="#pragma unroll",
    prelude="""typedef ushort half_bits;

static inline float half_to_float(half_bits bits) {
  return vload_half(0, (const __private half *)&bits);
}

static inline half_bits float_to_half(float value) {
  half_bits bits;
  vstore_half_rte(value, 0, (__private half *)&bits);
  return bits;
}
""",
    fragments=ONE_BY_ONE,
    aligned="__attribute__((aligned({bytes})))",
    spaces=("__global ", "__local "),
    vectors={4: ("uint", "0u"), 8: ("uint2", "(uint2)(0u)"), 16: ("uint4", "(uint4)(0u)")},
    types={1: "bool", 8: "char", 16: "short", 32: "int"},
)

CUDA = Language(
    name="CUDA C",
    suffix="cu",
    head='extern "C" __global__ void __launch_bounds__({threads}) {name}({arguments})',
    pointer="{const}{kind} *__restrict__ {name}",
    shared="__shared__",
    block="(int)blockIdx.x",
    thread="(int)threadIdx.x",
    barrier="__syncthreads();",
    unroll="#pragma unroll",
    prelude="""typedef unsigned short half_bits;

static __device__ __forceinline__ float half_to_float(half_bits bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

static __device__ __forceinline__ half_bits float_to_half(float value) {
  half_bits bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
""",
    fragments=IN_PTX,
    aligned="__align__({bytes})",
    spaces=("", ""),
    vectors={
        4: ("unsigned", "0u"),
        8: ("uint2", "make_uint2(0u, 0u)"),
        16: ("uint4", "make_uint4(0u, 0u, 0u, 0u)"),
    },
    types={1: "bool", 8: "signed char", 16: "short", 32: "int"},
)
