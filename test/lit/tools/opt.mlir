// RUN: tilewright-opt %s -p canonicalize | filecheck %s
// RUN: not tilewright-opt %s -p no-such-pass 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not tilewright-opt %s -p 'cse{' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not tilewright-opt %s -p 'cse{a=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not tilewright-opt %s -t no-such-target 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not tilewright-opt %s.missing 2>&1 | filecheck %s --check-prefix=FILE
// RUN: tilewright-opt --version | filecheck %s --check-prefix=VERSION

// CHECK-LABEL: func.func @f
func.func @f(%a: i32) -> i32 {
  func.return %a : i32
}

// PASS: error: -p/--passes: Unrecognized passes: ['no-such-pass']
// SYNTAX: error: -p/--passes: Error parsing pass pipeline
// OPTION: error: -p/--passes: Provided arguments ["a"] not found in expected arguments
// TARGET: invalid choice: 'no-such-target'
// FILE: no such file or directory
// VERSION: tilewright-opt
