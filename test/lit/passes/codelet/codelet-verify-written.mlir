// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// Element 6 of t is between the two parts that are written.
// CHECK: refuted: codelet @read: expected index 6 of t to be written before it is read, found nothing that writes it
codelet.program @main {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<10xf32, @DRAM>
  %y = codelet.tensor "y" output at 40 : !codelet.surrogate<10xf32, @DRAM>
  %t = codelet.tensor "t" temp at 0 : !codelet.surrogate<10xf32, @SPAD>
  codelet.codelet @write dims {i = 10} (%X = %x : !codelet.surrogate<10xf32, @DRAM>, %T = %t : !codelet.surrogate<10xf32, @SPAD>) {
    codelet.part i from 0 to 6 {
      codelet.transfer %X -> %T over "T[i]" : !codelet.surrogate<10xf32, @DRAM> -> !codelet.surrogate<10xf32, @SPAD>
    }
    codelet.part i from 7 to 10 {
      codelet.transfer %X -> %T over "T[i]" : !codelet.surrogate<10xf32, @DRAM> -> !codelet.surrogate<10xf32, @SPAD>
    }
  }
  codelet.codelet @read dims {i = 10} (%T = %t : !codelet.surrogate<10xf32, @SPAD>, %Y = %y : !codelet.surrogate<10xf32, @DRAM>) {
    codelet.loop i step 5 {
      codelet.transfer %T -> %Y over "T[i]" : !codelet.surrogate<10xf32, @SPAD> -> !codelet.surrogate<10xf32, @DRAM>
    }
  }
}
