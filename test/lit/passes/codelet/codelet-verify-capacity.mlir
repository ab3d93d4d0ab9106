// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// CHECK: infeasible: codelet @c, X at 992: expected at most 1024 B of SPAD, found 1032 B; 8 B less, or 1032 B of SPAD, would fit
codelet.program @main {
  codelet.codelet @c dims {p = 10} () {
    %0 = codelet.local "X[p]" at [992] : !codelet.surrogate<10xf32, @SPAD>
  }
}
