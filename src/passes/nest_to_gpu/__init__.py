"""From `nest` to kernels of threads: functions of the `gpu` dialect, with `scf`, `memref` and `arith` in them."""
