"""The optimizer tool: xDSL's opt with tilewright's dialects, passes, targets and front ends.

Errors in the input are told in one paragraph on stderr, never as a traceback: exit code 1 for bad input, 2 for wrong
usage, 70 for a fault of tilewright.
"""

import argparse
import struct
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from .errors import INTERNAL, TilewrightError, internal_error, shorten
from .files import file_error
from .frontends.mlir_text import check_order, check_strings, compact_literals, shown
from .interruption import finish, stop_if_cause_of, whole
from .universe import TILEWRIGHT_UNIVERSE


class UsageError(Exception):
    """A pass, target or option on the command line that does not exist."""


class TilewrightOptMain(xDSLOptMain):
    """Upstream's and tilewright's tables and nothing else, whatever other plugins are installed."""

    version_format = f"tilewright-opt {version('tilewright')} on xdsl {{xdsl_version}}"

    def register_all_dialects(self) -> None:
        for name, get in (XDSL_UNIVERSE.all_dialects | TILEWRIGHT_UNIVERSE.all_dialects).items():
            self.ctx.register_dialect(name, get)

    def register_all_passes(self) -> None:
        for name, get in (XDSL_UNIVERSE.all_passes | TILEWRIGHT_UNIVERSE.all_passes).items():
            self.register_pass(name, get)

    def register_all_targets(self) -> None:
        self.available_targets |= XDSL_UNIVERSE.all_targets | TILEWRIGHT_UNIVERSE.all_targets

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        self._parse_upstream = self.available_frontends["mlir"]
        self.available_frontends["mlir"] = self._parse_mlir
        self.available_frontends["onnx"] = self._parse_onnx
        self.available_frontends["tflite"] = self._parse_tflite
        self.available_frontends["acg"] = self._parse_acg

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.add_argument(
            "--traceback", action="store_true", help="Show the Python traceback of an error, to debug a pass"
        )
        arg_parser.add_argument(
            "--dim",
            action="append",
            default=[],
            metavar="NAME=N",
            help="A number for an extent that an ONNX file names, or FIRST..LAST or FIRST..LAST..STEP, where it stays "
            "open; may be repeated (docs/onnx.md)",
        )

    def setup_pipeline(self) -> None:
        try:
            super().setup_pipeline()
        except (ValueError, ArgSpecParseError) as error:
            raise UsageError(f"-p/--passes: {error}") from error

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        try:
            chunks, kind = super().prepare_input()
        except ValueError as error:
            raise UsageError(str(error)) from error
        if self.args.dim and kind != "onnx":
            raise UsageError(f"--dim: expected an ONNX file, found {kind}; extents of IR: -p graph-fix-extents{{...}}")
        return chunks, kind

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline; `--verify-diagnostics` prints what its passes refuse as it does verifiers' errors."""
        try:
            super().apply_passes(prog)
        except TilewrightError as error:
            if self.args.verify_diagnostics:
                raise DiagnosticException(describe(error)) from error
            raise

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Besides the text, write the weights to a file beside it (`x.mlir`, `x.npz`)."""
        if self.args.output_file is not None:
            from .resources import resources_of, save_module_resources

            if resources_of(prog):
                with whole():
                    save_module_resources(prog, Path(self.args.output_file).with_suffix(".npz"))
        text = super().output_resulting_program(prog)
        finish()  # what is left is to write it
        return text

    def _parse_mlir(self, io: IO[bytes]) -> ModuleOp:
        from .frontends.mlir import import_mlir, is_foreign
        from .passes.graph.graph_verify import GraphVerifyPass

        text = io.read()
        if is_foreign(text.decode()):
            return import_mlir(text.decode(), self.get_input_name())
        check_strings(text.decode(), self.get_input_name())
        try:
            module = self._parse_upstream(BytesIO(compact_literals(text.decode()).encode()))
        except (ValueError, KeyError, IndexError, OverflowError, struct.error) as error:
            found = f"what no attribute can hold ({str(error)[:200]})"
            raise TilewrightError("ir", self.get_input_name(), "IR that parses", found, "correct it there") from error
        if all(one.name != GraphVerifyPass.name for one in self.pipeline.passes):  # says which groups to swap
            check_order(module, self.get_input_name())
        if "graph.resources" in module.attributes and self.args.input_file is not None:
            from .resources import resources_of

            resources_of(module, Path(self.args.input_file).parent)
        return module

    def _parse_onnx(self, io: IO[bytes]) -> ModuleOp:
        from .frontends.onnx import import_open

        file = self.args.input_file
        return import_open(io.read() if file is None else Path(file), dict(map(_dim, self.args.dim)))

    def _parse_tflite(self, io: IO[bytes]) -> ModuleOp:
        from .frontends.tflite import import_tflite

        file = self.args.input_file
        return import_tflite(io.read() if file is None else Path(file))

    def _parse_acg(self, io: IO[bytes]) -> ModuleOp:
        from .frontends.acg import parse_module

        return parse_module(io.read().decode(), self.get_input_name())


def _dim(text: str) -> tuple[str, range]:
    """What `--dim` says: the name of an extent, and the numbers that it may have."""
    name, _, numbers = text.rpartition("=")
    parts = numbers.split("..")
    if name and len(parts) <= 3 and all(part.isascii() and part.isdigit() and len(part) <= 10 for part in parts):
        first, last, step = (
            int(parts[0]),
            int(parts[1 if len(parts) > 1 else 0]),
            int(parts[2] if len(parts) > 2 else 1),
        )
        if 1 <= first <= last and step >= 1:
            return name, range(first, last + 1, step)
    raise UsageError(f"--dim: expected NAME=N, NAME=FIRST..LAST or NAME=FIRST..LAST..STEP from 1 on, found {text!r}")


def describe(error: BaseException) -> str:
    """One paragraph for a person about an error of any stage."""
    match error:
        case TilewrightError():
            return f"{error.kind}: {error.paragraph()}"
        case ParseError():
            return str(error)
        case DiagnosticException():
            return shown(error)
        case RecursionError():
            return "the input is nested too deeply"
        case MemoryError():
            return "the input needs more memory than there is"
        case UnicodeDecodeError():
            return f"the input is not UTF-8 text, at byte {error.start}"
        case OSError():
            return file_error(error).paragraph()
        case UsageError():
            return str(error)
        case _:
            return internal_error(error).paragraph()


def is_ours(error: BaseException) -> bool:
    """Whether an error is a fault of tilewright: none that says something of its input."""
    told = TilewrightError, ParseError, DiagnosticException, UsageError, ArgSpecParseError
    return not isinstance(error, (*told, OSError, UnicodeDecodeError, RecursionError, MemoryError))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        TilewrightOptMain("tilewright's modular optimizer driver", arguments).run()
        return 0
    except (Exception, ArgSpecParseError) as error:
        stop_if_cause_of(error)
        if "--traceback" in arguments:
            raise
        print(shorten(f"error: {describe(error)}"), file=sys.stderr)
        return INTERNAL if is_ours(error) else 2 if isinstance(error, UsageError) else 1
