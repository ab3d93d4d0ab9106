// RUN: VERIFY

// CHECK: expected acg.packet once in acg.graph, found it twice
acg.graph @twice control "packets" frequency 1.0e9 {
  acg.packet words 2 base @R resources <S0>
  acg.packet words 2 base @R resources <S0>
}

// -----

// CHECK: expected execute @node::@capability
acg.graph @executes control "packets" frequency 1.0e9 {
  acg.packed @A "a" words 1 latency 1 align 1 registers <> fields <> needs <> execute @CORE extents <> places <>
}

// -----

// CHECK: expected the trips of a loop, found none
acg.graph @trips control "packets" frequency 1.0e9 {
  acg.packed @A "a" words 1 latency 1 align 1 registers <> fields <> needs <> extents <> places <> loop 0 suffix "x"
}

// -----

// CHECK: expected plain fields, found places, names or constants
acg.graph @fields control "packets" frequency 1.0e9 {
  acg.packed @A "a" words 1 latency 1 align 1 registers <> fields <F 3 at 4> needs <> extents <> places <>
}

// -----

// CHECK: expected one advance
acg.graph @advances control "packets" frequency 1.0e9 {
  acg.packed @A "a" words 1 latency 1 align 1 registers <> fields <> needs <> extents <> places <> advance <>
}
