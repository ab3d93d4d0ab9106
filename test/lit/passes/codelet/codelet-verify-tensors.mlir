// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// CHECK: refuted: tensors 'x' and 'y': expected no shared bytes of DRAM while both are in use, found 20 B shared from 20 on; move one of them by 20 B
codelet.program @main {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<10xf32, @DRAM>
  %y = codelet.tensor "y" output at 20 : !codelet.surrogate<10xf32, @DRAM>
}
