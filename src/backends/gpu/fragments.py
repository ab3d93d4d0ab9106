"""What kernels of C call for operations of dialect `warp`: instructions of PTX, or C that a thread runs by itself."""

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
