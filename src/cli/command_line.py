"""Parsing of arguments, the choice of the command, and how answers and errors are told."""

import argparse
import io
import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple, NoReturn, Protocol, cast

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ..costs.clock import cpu_seconds
from ..errors import INTERNAL, TilewrightError, internal_error, shorten
from ..files import file_error
from ..interruption import finish, requested, stop_if_cause_of
from .effort import apply_effort
from .kernel_cache import FIRST_ANSWER_S, interpret_first

COMMANDS = (
    "compile",
    "run",
    "report",
    "explain",
    "diff",
    "sweep",
    "assemble",
    "disassemble",
    "targets",
    "map",
    "check",
    "price",
    "price-schedule",
    "networks",
    "partition",
    "explore",
    "schedule",
)

PACKAGE = __name__.split(".")[0]
"""The logger above all of ours."""

Answer = dict[str, Any]


class Unused(NamedTuple):
    """Options (as attributes of the arguments) that a command would ignore, and where: `without --partition`."""

    options: Collection[str]
    where: str


class Command(Protocol):
    """What each module of a command offers; its docstring's first line is the help text.

    One with options that it does not always heed also has `unused_options(arguments) -> Iterator[Unused]`; one whose
    kernels take long to compile names its search, `kernels(arguments) -> str | None` (`kernel_cache.SEARCHES`).
    """

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def execute(self, arguments: argparse.Namespace) -> Answer: ...

    def show(self, answer: Answer) -> None: ...


class UsageError(TilewrightError):
    """Wrong use of the command line: exit code 2."""


class ArgumentParser(argparse.ArgumentParser):
    """A parser that raises instead of leaving the process, so that `--json` can answer errors too."""

    def error(self, message: str) -> NoReturn:
        raise UsageError("usage", self.prog, "arguments as `--help` tells", message, f"see {self.prog} --help")

    def given(self, words: Sequence[str]) -> set[str]:
        """The attributes of arguments that `words` give options for; abbreviations are not taken."""
        actions = self._option_string_actions
        names = [word.partition("=")[0] for word in words if word.startswith("-")]
        return {actions[key].dest for name in names for key in (name, name[:2]) if key in actions}


class Warnings(logging.Handler):
    """Keeps what the package warns of, each message once; tells it on stderr unless `quiet`."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(logging.WARNING)
        self.quiet = quiet
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message in self.messages:
            return
        self.messages.append(message)
        if not self.quiet and not logging.root.handlers:
            print(shorten(f"tilewright: warning: {message}"), file=sys.stderr)


def refuse_unused(given: Collection[str], unused: Iterable[Unused]) -> None:
    """Raise `UsageError` for an option that was given and would be ignored."""
    for options, where in unused:
        ignored = {*options, "effort"} if "time_limit" in options else set(options)
        for option in sorted(ignored.intersection(given)):
            name = f"--{option.replace('_', '-')}"
            raise UsageError("usage", name, f"no such option {where}", "one", "leave it out: it would be ignored")


def load_command(name: str) -> Command:
    """The module of a command."""
    return cast(Command, import_module(f".{name.replace('-', '_')}", __package__))


def make_parser() -> tuple[ArgumentParser, dict[str, ArgumentParser]]:
    """The parser of the whole command line, and that of each command."""
    parser = ArgumentParser(
        prog="tilewright",
        description="Compile networks and tensor kernels for spatial accelerators, and run them in simulation.",
        epilog="Exit codes: 0 done, 1 bad input, infeasible, or outputs other than expected, 2 wrong usage, "
        "70 a fault of tilewright, 130 and 143 stopped by SIGINT or SIGTERM.",
    )
    parser.add_argument("--version", action="version", version=f"tilewright {version('tilewright')}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers: dict[str, ArgumentParser] = {}
    for name in COMMANDS:
        command = load_command(name)
        help_text = (command.__doc__ or "").strip().splitlines()[0]
        subparser = subparsers.add_parser(
            name,
            help=help_text,
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        subparser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
        command.add_arguments(subparser)
        parsers[name] = subparser
    return parser, parsers


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if sys.stderr.isatty() and "--json" not in arguments:
        logging.basicConfig(format="tilewright: %(message)s", level=logging.INFO)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may be no text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        done = answer_command(arguments)
        sys.stdout.flush()
        return done
    except Exception as error:
        stop_if_cause_of(error)
        return tell_failure(error, "--json" in arguments)


def tell_failure(error: Exception, as_json: bool) -> int:
    """Tell why there is no answer; returns the exit code."""
    if isinstance(error, OSError):
        return tell_lost_output(error)
    known = isinstance(error, TilewrightError)
    tell_error(error if known else internal_error(error), as_json)
    return (2 if isinstance(error, UsageError) else 1) if known else INTERNAL


def tell_lost_output(error: OSError) -> int:
    """The answer could not be printed: nobody reads it any more (that is fine), or there is no room for it."""
    with suppress(OSError):  # so that the interpreter's end does not fail, too; what tests put there has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    tell_error(file_error(error, "standard output"), as_json=False)
    return 1


def answer_command(arguments: Sequence[str]) -> int:
    """Execute the command and print its answer; returns 1 where outputs differ from what was expected."""
    parser, parsers = make_parser()
    namespace, unknown = parser.parse_known_args(arguments)
    if unknown:
        ArgumentParser(prog=f"tilewright {namespace.command}").error(f"unknown {' '.join(unknown)}")
    command = load_command(namespace.command)
    warned = Warnings(quiet=namespace.json)
    logger = logging.getLogger(PACKAGE)
    logger.addHandler(warned)
    unused: Callable[[argparse.Namespace], Iterable[Unused]] = getattr(command, "unused_options", lambda _: ())
    given = parsers[namespace.command].given(arguments)
    try:
        apply_effort(namespace, given)
        interpret_uncompiled(command, namespace)
        refuse_unused(given, unused(namespace))
        start_cpu, start_wall = cpu_seconds(), time.perf_counter()
        answer = command.execute(namespace)
        answer.setdefault("cpu_s", cpu_seconds() - start_cpu)
        answer.setdefault("wall_s", time.perf_counter() - start_wall)
        if warned.messages:
            answer.setdefault("warnings", warned.messages)
    except OSError as error:
        raise file_error(error, name_of_input(namespace)) from error
    except (ParseError, DiagnosticException) as error:
        raise TilewrightError("ir", name_of_input(namespace), "IR that parses and verifies", str(error)) from error
    except (RecursionError, MemoryError) as error:
        expected = "one that fits in memory and on the stack"
        raise TilewrightError("limit", name_of_input(namespace), expected, type(error).__name__) from error
    finally:
        logger.removeHandler(warned)
    finish()
    if requested():
        answer["interrupted"] = True
    if namespace.json:
        print(json.dumps(finite(answer)))
    else:
        command.show(answer)
        if requested():
            print("interrupted: the best found until then")
    return 1 if answer.get("agrees") is False else 0


def interpret_uncompiled(command: Command, namespace: argparse.Namespace) -> None:
    """A quick first answer where the command's kernels are not compiled yet."""
    kernels: Callable[[argparse.Namespace], str | None] = getattr(command, "kernels", lambda _: None)
    search = kernels(namespace)
    told = None if search is None else interpret_first(search)
    if told is None:
        return
    logging.getLogger(PACKAGE).warning(told)
    if namespace.time_limit is None:
        namespace.time_limit, namespace.first_answer = FIRST_ANSWER_S, True


def finite(value: Any) -> Any:
    """The value as JSON can say it: infinite numbers and NaN as null, those of NumPy as plain ones."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in cast(list[Any], value)]
    return value


def name_of_input(namespace: argparse.Namespace) -> str:
    """What the user gave to the command."""
    names = ("kernel", "files", "file", "network", "model")
    given = next((found for name in names if (found := getattr(namespace, name, None))), None)
    return " ".join(map(str, cast(list[object], given))) if isinstance(given, list) else str(given or "the input")


LEVERS = {
    "parse": "correct it there",
    "ir": "correct it there",
    "file": "name another file, or mend that one",
    "usage": "see `tilewright COMMAND --help`",
    "target": "correct the target, or choose another one",
    "network": "see `tilewright networks`",
    "layer": "choose one of them",
    "limit": "give a smaller input",
}
"""What to change where an error itself does not say more, by its kind."""


def tell_error(error: TilewrightError, as_json: bool) -> None:
    """One paragraph on stderr, or one JSON object on stdout."""
    error.lever = error.lever or LEVERS.get(error.kind, "change the one or the other")
    if as_json:
        fields = error.as_dict()
        short = {key: shorten(value) if isinstance(value, str) else value for key, value in fields.items()}
        print(json.dumps({"error": short}))
    else:
        text = shorten(f"tilewright: {error.kind}: {error.paragraph()}")
        print(text.encode(errors="backslashreplace").decode(), file=sys.stderr)
