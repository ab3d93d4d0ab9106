// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// The reduced dim is bound to a dim of the capability that the target has.
// CHECK: refuted: codelet @c, compute MXU.mac: expected dim p bound to a dim that moves the target too, found O[m] += X[m, k] * W[k]
codelet.program @main {
  codelet.codelet @c dims {m = 4, k = 4} () {
    %0 = codelet.local "Y[m]" at [0] : !codelet.surrogate<4xf32, @SPAD>
    %1 = codelet.local "X[m, k]" at [16] : !codelet.surrogate<4x4xf32, @SPAD>
    %2 = codelet.local "W[k]" at [80] : !codelet.surrogate<4xf32, @SPAD>
    codelet.compute @MXU::@mac "O[m] += X[m, k] * W[k]" (%0, %1, %2) dims {p = k, k = m} : (!codelet.surrogate<4xf32, @SPAD>, !codelet.surrogate<4x4xf32, @SPAD>, !codelet.surrogate<4xf32, @SPAD>)
  }
}
