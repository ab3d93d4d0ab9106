"""What OpenCL C and CUDA C say differently."""

import re
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FixedBitwidthType, Float16Type, Float32Type, IndexType, IntegerType, VectorType
from xdsl.ir import Attribute

from ...dialects.warp import FragmentType
from ...errors import TilewrightError

IN_PTX = """struct left_fragment { unsigned part[8]; };
struct right_fragment { unsigned part[8]; };
struct sums_fragment { float part[8]; };

#define PARTS(kind, f) kind((f)->part[0]), kind((f)->part[1]), kind((f)->part[2]), kind((f)->part[3]), \\
                       kind((f)->part[4]), kind((f)->part[5]), kind((f)->part[6]), kind((f)->part[7])
#define LOAD(matrix, layout) \\
  asm volatile("wmma.load." matrix ".sync.aligned." layout ".m16n16k16.shared.f16 " \\
               "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \\
               : PARTS("=r", f) : "r"((unsigned)__cvta_generic_to_shared(tile)), "r"(leading) : "memory")
#define MULTIPLY(layout) \\
  asm volatile("wmma.mma.sync.aligned." layout ".m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, " \\
               "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, " \\
               "{%0, %1, %2, %3, %4, %5, %6, %7};" : PARTS("+f", c) : PARTS("r", a), PARTS("r", b))
#define STORE(layout) \\
  asm volatile("wmma.store.d.sync.aligned." layout ".m16n16k16.shared.f32 [%0], " \\
               "{%1, %2, %3, %4, %5, %6, %7, %8}, %9;" \\
               :: "r"((unsigned)__cvta_generic_to_shared(tile)), PARTS("f", f), "r"(leading) : "memory")

static __device__ __forceinline__ void clear(sums_fragment *f) {
  #pragma unroll
  for (int i = 0; i < 8; ++i) f->part[i] = 0.0f;
}

static __device__ __forceinline__ void load_left(left_fragment *f, const half_bits *tile, int leading, bool columns) {
  if (columns) LOAD("a", "col"); else LOAD("a", "row");
}

static __device__ __forceinline__ void load_right(right_fragment *f, const half_bits *tile, int leading, bool columns) {
  if (columns) LOAD("b", "col"); else LOAD("b", "row");
}

static __device__ __forceinline__ void multiply(
    const left_fragment *a, bool a_columns, const right_fragment *b, bool b_columns, sums_fragment *c) {
  if (a_columns && b_columns) MULTIPLY("col.col");
  else if (a_columns) MULTIPLY("col.row");
  else if (b_columns) MULTIPLY("row.col");
  else MULTIPLY("row.row");
}

static __device__ __forceinline__ void store_sums(const sums_fragment *f, float *tile, int leading, bool columns) {
  if (columns) STORE("col"); else STORE("row");
}
"""
"""Warp-level matrix instructions (PTX ISA, `wmma`): a thread has 8 registers of each fragment.  A product must name the
layout by which its factors were loaded; all flags are constants."""

ONE_BY_ONE = """typedef struct { half_bits line[16]; } left_fragment;
typedef struct { half_bits line[16][8]; } right_fragment;
typedef struct { float part[8]; } sums_fragment;

static inline int thread_row(void) { return (int)get_local_id(0) % 32 / 2; }
static inline int thread_column(void) { return (int)get_local_id(0) % 2 * 8; }

static inline void clear(sums_fragment *f) {
  for (int i = 0; i < 8; ++i) f->part[i] = 0.0f;
}

static inline void load_left(left_fragment *f, __local const half_bits *tile, int leading, bool columns) {
  const int row = thread_row();
  for (int k = 0; k < 16; ++k) f->line[k] = columns ? tile[k * leading + row] : tile[row * leading + k];
}

static inline void load_right(right_fragment *f, __local const half_bits *tile, int leading, bool columns) {
  const int first = thread_column();
  for (int k = 0; k < 16; ++k)
    for (int i = 0; i < 8; ++i)
      f->line[k][i] = columns ? tile[(first + i) * leading + k] : tile[k * leading + first + i];
}

static inline void multiply(
    const left_fragment *a, bool a_columns, const right_fragment *b, bool b_columns, sums_fragment *c) {
  for (int k = 0; k < 16; ++k)
    for (int i = 0; i < 8; ++i) c->part[i] += half_to_float(a->line[k]) * half_to_float(b->line[k][i]);
}

static inline void store_sums(const sums_fragment *f, __local float *tile, int leading, bool columns) {
  const int row = thread_row(), first = thread_column();
  for (int i = 0; i < 8; ++i) tile[columns ? (first + i) * leading + row : row * leading + first + i] = f->part[i];
}
"""
"""Each of 32 threads has half a row of the sums, and what its products need of the factors; sums grow k by k."""


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
    vectors={4: ("unsigned", "0u"), 8: ("uint2", "make_uint2(0u, 0u)"), 16: ("uint4", "make_uint4(0u, 0u, 0u, 0u)")},
    types={1: "bool", 8: "signed char", 16: "short", 32: "int"},
)
