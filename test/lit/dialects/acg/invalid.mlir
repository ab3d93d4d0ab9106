// RUN: VERIFY

// The rules of machines are tested one by one in test/unit/frontends/acg; here are those of the IR.

// CHECK: memory M: expected depth of at least 1, found 0; a memory must hold something
acg.graph @capacity_zero control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 0 align 1 read_energy 0.0 write_energy 0.0 offchip
}

// -----

// CHECK: expected declarations of the acg dialect in acg.graph, found test.op
acg.graph @other_ops control "queues" frequency 1.0 {
  "test.op"() : () -> ()
}

// -----

// CHECK: expected a name of letters, digits and underscores, found @a b
acg.graph @strange_name control "queues" frequency 1.0 {
  acg.memory @"a b" data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
}

// -----

// CHECK: expected acg.isa once in acg.graph, found it twice
acg.graph @two_isas control "queues" frequency 1.0 {
  acg.isa opcode_bits 8 align 8 width 0 header <> signal "" waits <>
  acg.isa opcode_bits 8 align 8 width 0 header <> signal "" waits <>
}

// -----

// CHECK: expected execute @node::@capability, found @ALU
acg.graph @execute_without_capability control "queues" frequency 1.0 {
  acg.mnemonic @A 1 unit @U fields <> execute @ALU extents <> operands <>
}

// -----

// CHECK: expected spread over x, y or both, found ['z']
acg.graph @spread_over_no_axis control "queues" frequency 1.0 {
  acg.mnemonic @A 1 unit @U fields <> execute @ALU::@add extents <> operands <> spread <z S>
}

// -----

// CHECK: 'acg.compute' does not contain single-block regions
acg.graph @two_blocks control "queues" frequency 1.0 {
  acg.compute @ALU x 1 y 1 {
  ^bb0:
  ^bb1:
  }
}

// -----

// CHECK: 'acg.unit' expects parent op 'acg.graph'
acg.unit @U depth 0

// -----

// CHECK: 'acg.memory' expects parent op 'acg.graph'
acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0

// -----

// CHECK: 'acg.capability' expects parent op to be one of 'acg.compute', 'acg.link'
acg.capability @c dims <a to 1> <"D{a} = S{a}"> types <[u8, u8]> cycles <"a"> energy <"0">
