// RUN: tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' | filecheck %s

// Windows of a strided, padded access over pieces of unequal length: nothing to complain about, nothing changed.
// CHECK: codelet.program @main
// CHECK: codelet.local "X[2*p + r - 1]" buffers 2 at [0, 64]
codelet.program @main {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<20xf32, @DRAM>
  %y = codelet.tensor "y" output at 80 : !codelet.surrogate<10xf32, @DRAM>
  %w = codelet.tensor "w" weight at 120 : !codelet.surrogate<3xf32, @DRAM>
  codelet.codelet @c dims {p = 10, r = 3} (%W = %w : !codelet.surrogate<3xf32, @DRAM>, %X = %x : !codelet.surrogate<20xf32, @DRAM>, %Y = %y : !codelet.surrogate<10xf32, @DRAM>) {
    %2 = codelet.local "W[r]" at [160] : !codelet.surrogate<3xf32, @SPAD>
    codelet.transfer %W -> %2 : !codelet.surrogate<3xf32, @DRAM> -> !codelet.surrogate<3xf32, @SPAD>
    codelet.loop p step 4 {
      %0 = codelet.local "X[2*p + r - 1]" buffers 2 at [0, 64] : !codelet.surrogate<9xf32, @SPAD>
      codelet.transfer %X -> %0 pad 0.0 : f32 : !codelet.surrogate<20xf32, @DRAM> -> !codelet.surrogate<9xf32, @SPAD>
      codelet.loop p step 3 {
        %1 = codelet.local "Y[p]" at [128] : !codelet.surrogate<3xf32, @SPAD>
        codelet.loop r step 2 {
          codelet.compute @MXU::@mac "O[p] += X[2*p + r - 1] * W[r]" (%1, %0, %2) dims {p = p, c = r} : (!codelet.surrogate<3xf32, @SPAD>, !codelet.surrogate<9xf32, @SPAD>, !codelet.surrogate<3xf32, @SPAD>)
        }
        codelet.transfer %1 -> %Y : !codelet.surrogate<3xf32, @SPAD> -> !codelet.surrogate<10xf32, @DRAM>
      }
    }
  }
}
