// RUN: tilewright-opt %s -p 'load-target{target=tiny}' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target=edge16},load-target{target=tiny}' | filecheck %s
// RUN: not tilewright-opt %s -p 'load-target{target="no/such.acg"}' 2>&1 | filecheck %s --check-prefix=MISSING

// CHECK: builtin.module {
// CHECK-NEXT: acg.graph @tiny control "queues" frequency 1.000000e+08 {
// CHECK-NEXT: acg.memory @DRAM
// CHECK-NOT: acg.graph
// CHECK: func.func @f
func.func @f() {
  func.return
}

// MISSING: error: target: no/such.acg: expected one of {{.*}}, or an .acg file, found neither
