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

// -----

// What the text cannot say.

// CHECK: acg a: expected a positive frequency, found inf
"acg.graph"() <{sym_name = "a", control = "queues", frequency_hz = 0x7FF0000000000000 : f64}> ({}) : () -> ()

// -----

// CHECK: memory M: expected finite energies of at least 0 pJ, found nan
acg.graph @a control "queues" frequency 1.0 {
  "acg.memory"() <{sym_name = "M", data_width_bits = 8 : i64, banks = 1 : i64, depth = 1 : i64, align_bytes = 1 : i64, read_energy_pj = 0x7FF8000000000000 : f64, write_energy_pj = 0.0 : f64, offchip}> : () -> ()
}

// -----

// CHECK: unit U: expected a depth of at least 0 and below 2^62, found -1
acg.graph @a control "queues" frequency 1.0 {
  acg.unit @U depth -1
}

// -----

// CHECK: link M->N: expected a latency of at least 0 and below 2^62 cycles, found -1
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.memory @N data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0
  acg.link @M -> @N bandwidth 1.0 latency -1 channel ""
}

// -----

// CHECK: link M->N: expected a name for the channel, found `M<->N`
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.memory @N data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0
  acg.link @M -> @N bandwidth 1.0 latency 0 channel "M<->N"
}

// -----

// CHECK: link M->N: expected a name for the channel, found ``
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.memory @N data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0
  acg.link @M -> @N both bandwidth 1.0 latency 0 channel ""
}

// -----

// CHECK: mnemonic A: expected a capability with dims, as C.c has not, found none
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.compute @C x 1 y 1 {
    acg.capability @c dims <> <"O{} = 1"> types <[i8]> cycles <"1"> energy <"0">
  }
  acg.link @M -> @C both bandwidth 1.0 latency 0 channel "bus"
  acg.unit @U depth 0
  acg.mnemonic @A 1 unit @U fields <> execute @C::@c extents <> operands <O = M[0] i8 {}>
}

// -----

// CHECK: capability C.c: expected a row of types, found none
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.compute @C x 1 y 1 {
    acg.capability @c dims <i to 1> <"O{i} = 1"> types <> cycles <"1"> energy <"0">
  }
  acg.link @M -> @C both bandwidth 1.0 latency 0 channel "bus"
}

// -----

// CHECK: capability C.c: expected functions that F may stand for, found none
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.compute @C x 1 y 1 {
    acg.capability @c dims <i to 1> <"O{i} = F(1)"> functions <F []> types <[i8]> cycles <"1"> energy <"0">
  }
  acg.link @M -> @C both bandwidth 1.0 latency 0 channel "bus"
}

// -----

// CHECK: mnemonic A: expected an opcode of 8 bits, found -1
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.unit @U depth 0
  acg.mnemonic @A -1 unit @U fields <> execute @C::@c extents <> operands <>
}

// -----

// CHECK: field A.E: expected an efield without a sign, found a signed one
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.unit @U depth 0
  acg.mnemonic @A 1 unit @U fields <E 2 signed [a = 0]> execute @C::@c extents <> operands <>
}

// -----

// CHECK: memory M: expected a count of regions, found -1; 0 is no limit
acg.graph @a control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 regions -1
}

// -----

// CHECK: expected `operand memory type`, `mnemonic field value, ...`, found O M
acg.graph @m control "queues" frequency 1.0e9 {
  acg.macro @QUAD execute @ALU::@twice places ["O M"] emits ["DBL O O"]
}

// -----

// CHECK: macro QUAD: expected a capability of a compute node, found `ALU.twice`
acg.graph @m control "queues" frequency 1.0e9 {
  acg.memory @M data_width 8 banks 1 depth 64 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.macro @QUAD execute @ALU::@twice places ["O M i32"] emits ["DBL O O"]
}
