// RUN: tilewright-opt %s -p 'load-target{target=tiny}' -t assembly | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target=tiny}' -t acg | tilewright-opt -f acg -t acg | filecheck %s --check-prefix=ACG
// RUN: tilewright-opt %s -p 'load-target{target=tiny}' -t dot | filecheck %s --check-prefix=DOT
// RUN: not tilewright-opt %s -t acg 2>&1 | filecheck %s --check-prefix=MACHINE

// CHECK: LOAD TAG=1, DST=0x40, RUN=64, NB=1, NC=1
// CHECK-NEXT: UNARY WT0=1, WC0=1, FN=relu, O=0x80, A=0x40, NA=16, NB=1
mnemonic.program @written {
  mnemonic.instr @LOAD <TAG = 1, DST = 64, RUN = 64, NB = 1, NC = 1>
  mnemonic.instr @UNARY <WT0 = 1, WC0 = 1, FN = relu, O = 128, A = 64, NA = 16, NB = 1>
}

// FILL, T = i32 (1), D = 5
// CHECK-NEXT: FILL T=i32, D=0x5
mnemonic.program @packed code dense<"0x3000000000101400000000000000000000000000000000000000000000000000"> : tensor<32xi8>

// DOT: digraph "tiny" {
// DOT: "SPAD" [fillcolor=lightblue, label="SPAD\n1024 B"];
// DOT: "MXU" [fillcolor=lightgreen, label="MXU[4][4]\nmac"];
// DOT: "DRAM" -> "SPAD" [label="4 B/cycle", dir=both];

// ACG: acg tiny {
// ACG-NEXT: control queues;

// MACHINE: error: target: module: expected one acg.graph, found 0; run the pass load-target first
