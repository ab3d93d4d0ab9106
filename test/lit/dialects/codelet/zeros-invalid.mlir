// RUN: VERIFY

// CHECK: expected zeros of an operand (X, W), found O
codelet.program @main {
  %o = codelet.tensor "o" temp : !codelet.surrogate<8xi32, @GBUF>
  %x = codelet.tensor "x" temp : !codelet.surrogate<10xsi8, @GBUF>
  %w = codelet.tensor "w" temp : !codelet.surrogate<3xsi8, @GBUF>
  codelet.codelet @c dims {p = 8, r = 3} (%O = %o : !codelet.surrogate<8xi32, @GBUF>, %X = %x : !codelet.surrogate<10xsi8, @GBUF>, %W = %w : !codelet.surrogate<3xsi8, @GBUF>) {
    codelet.compute @MXU::@mac "O[p] += X[p + r] * W[r]" (%O, %X, %W) dims {p = p, r = r} keep zeros O [0:8] : (!codelet.surrogate<8xi32, @GBUF>, !codelet.surrogate<10xsi8, @GBUF>, !codelet.surrogate<3xsi8, @GBUF>)
  }
}

// -----

// CHECK: expected first and last indices within [10], with zeros outside, found 1:11
codelet.program @main {
  %o = codelet.tensor "o" temp : !codelet.surrogate<8xi32, @GBUF>
  %x = codelet.tensor "x" temp : !codelet.surrogate<10xsi8, @GBUF>
  %w = codelet.tensor "w" temp : !codelet.surrogate<3xsi8, @GBUF>
  codelet.codelet @c dims {p = 8, r = 3} (%O = %o : !codelet.surrogate<8xi32, @GBUF>, %X = %x : !codelet.surrogate<10xsi8, @GBUF>, %W = %w : !codelet.surrogate<3xsi8, @GBUF>) {
    codelet.compute @MXU::@mac "O[p] += X[p + r] * W[r]" (%O, %X, %W) dims {p = p, r = r} keep zeros X [1:11] : (!codelet.surrogate<8xi32, @GBUF>, !codelet.surrogate<10xsi8, @GBUF>, !codelet.surrogate<3xsi8, @GBUF>)
  }
}

// -----

// CHECK: expected first and last indices within [10], with zeros outside, found 0:10, 0:1
codelet.program @main {
  %o = codelet.tensor "o" temp : !codelet.surrogate<8xi32, @GBUF>
  %x = codelet.tensor "x" temp : !codelet.surrogate<10xsi8, @GBUF>
  %w = codelet.tensor "w" temp : !codelet.surrogate<3xsi8, @GBUF>
  codelet.codelet @c dims {p = 8, r = 3} (%O = %o : !codelet.surrogate<8xi32, @GBUF>, %X = %x : !codelet.surrogate<10xsi8, @GBUF>, %W = %w : !codelet.surrogate<3xsi8, @GBUF>) {
    codelet.compute @MXU::@mac "O[p] += X[p + r] * W[r]" (%O, %X, %W) dims {p = p, r = r} keep zeros X [0:10, 0:1] : (!codelet.surrogate<8xi32, @GBUF>, !codelet.surrogate<10xsi8, @GBUF>, !codelet.surrogate<3xsi8, @GBUF>)
  }
}

// -----

// CHECK: expected a sum of products that goes on from its target (keep) where zeros are left out
codelet.program @main {
  %o = codelet.tensor "o" temp : !codelet.surrogate<8xi32, @GBUF>
  %x = codelet.tensor "x" temp : !codelet.surrogate<10xsi8, @GBUF>
  %w = codelet.tensor "w" temp : !codelet.surrogate<3xsi8, @GBUF>
  codelet.codelet @c dims {p = 8, r = 3} (%O = %o : !codelet.surrogate<8xi32, @GBUF>, %X = %x : !codelet.surrogate<10xsi8, @GBUF>, %W = %w : !codelet.surrogate<3xsi8, @GBUF>) {
    codelet.compute @MXU::@mac "O[p] += X[p + r] * W[r]" (%O, %X, %W) dims {p = p, r = r} zeros X [1:9] : (!codelet.surrogate<8xi32, @GBUF>, !codelet.surrogate<10xsi8, @GBUF>, !codelet.surrogate<3xsi8, @GBUF>)
  }
}
