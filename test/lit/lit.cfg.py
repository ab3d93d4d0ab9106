import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).parents[2]
chunks = "--split-input-file"

config.name = "tilewright"
config.suffixes = [".mlir", ".acg", ".test"]
config.test_format = lit.formats.ShTest()
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = root / "build" / "lit"
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
config.environment["TILEWRIGHT_KERNELS"] = "wait"
if "WARM_COMMANDS" in os.environ:
    config.environment["PATH"] = os.pathsep.join([os.environ["WARM_COMMANDS"], config.environment["PATH"]])
config.substitutions += [
    (
        "ROUNDTRIP",
        f"tilewright-opt %s --print-op-generic {chunks} | tilewright-opt {chunks} | filecheck %s",
    ),
    ("VERIFY", f"tilewright-opt %s --verify-diagnostics {chunks} | filecheck %s"),
    ("PARSEDIAG", f"tilewright-opt %s --parsing-diagnostics {chunks} | filecheck %s"),
]
