// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// CHECK: refuted: codelet @c, X at 6: expected a multiple of 4 (SPAD), found 6 B; the next address that fits is 8
codelet.program @main {
  codelet.codelet @c dims {p = 10} () {
    %0 = codelet.local "X[p]" at [6] : !codelet.surrogate<10xf32, @SPAD>
  }
}
