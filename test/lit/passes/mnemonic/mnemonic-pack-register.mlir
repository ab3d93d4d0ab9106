// RUN: not tilewright-opt %s -p 'load-target{target="hvx"},mnemonic-pack' 2>&1 | filecheck %s

// CHECK: expected fields of VADDW once (O 0 to 31, A 0 to 31, B 0 to 31), found A = 32
mnemonic.program @far {
  mnemonic.instr @VADDW <O = 2, A = 32, B = 1>
}
