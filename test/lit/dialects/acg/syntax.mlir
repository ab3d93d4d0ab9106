// RUN: PARSEDIAG

// CHECK: statement:1:7: expected a number, a name or `(`, found the end
"test.op"() {a = #acg.statement<"O{i} =">} : () -> ()

// -----

// CHECK: expression:1:3: expected an operator or the end, found `b`
"test.op"() {a = #acg.formula<"a b">} : () -> ()

// -----

// CHECK: expected a name of letters, digits and underscores
"test.op"() {a = #acg.names<a.b>} : () -> ()

// -----

// CHECK: Expected 'to'
"test.op"() {a = #acg.dims<i 3>} : () -> ()

// -----

// CHECK: Expected integer literal
"test.op"() {a = #acg.fields<F wide>} : () -> ()

// -----

// CHECK: expected an integer below 2^63
"test.op"() {a = #acg.dims<i to 9223372036854775808>} : () -> ()
