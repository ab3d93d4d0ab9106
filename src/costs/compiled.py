"""Numba's decorators with the types of the functions they compile."""

import gc
import logging
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite.binding import ffi, parse_assembly
from numba import njit
from numba.core import config, event
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.types import unliteral
from numba.core.types.functions import BaseFunction

from ..garbage import SELDOM
from .clock import compiling
from .kernel_sources import version

F = TypeVar("F", bound=Callable[..., Any])

INTERPRETED = bool(vars(config)["DISABLE_JIT"])
"""Whether functions stay plain Python (`kernel_cache`); integers of NumPy wrap around as compiled ones do."""

if INTERPRETED:
    np.seterr(all="ignore")


PACKAGE = __name__.split(".")[0]
OURS = f"_ZN{len(PACKAGE)}{PACKAGE}"
"""How the names of functions of this package begin in LLVM's code."""


WRAPPERS, ENVIRONMENT = ("_ZN7cpython", "cpython."), "_ZN08NumbaEnv"
"""How the names of functions that take Python objects begin, and those of variables for numba's environments."""


def _is_part(library: Any) -> bool:
    """Whether only compiled code calls the functions of a library, and some of them are ours."""
    own = [function.name for function in library._final_module.functions if not function.is_declaration]
    return any(each.startswith(OURS) for each in own) and not any(each.startswith(WRAPPERS) for each in own)


def _finish_part(library: Any) -> None:
    """Make a library ready to be linked into others: of its variables the engine knows environments, no machine code.

    The code of those that call it finds these by name.
    """
    library._finalize_dynamic_globals()
    library._verify_declare_only_symbols()
    codegen = library._codegen
    environments = [
        str(variable)
        for variable in library._final_module.global_variables
        if variable.name.startswith(ENVIRONMENT)
        and not variable.is_declaration
        and not codegen._engine.is_symbol_defined(variable.name)
    ]
    if environments:
        empty = str(codegen._create_empty_module(library.name))
        codegen._add_module(parse_assembly("\n".join((empty, *environments))))
        codegen._engine.finalize_object()
    library._finalized = True


def _make_code_once() -> None:
    """Have a function of ours that only compiled code calls made part of those that call it, as bitcode.

    numba links all that a function calls into its code, and optimises the whole and makes machine code of it, at each
    function of a chain once more: half of the time that compiling takes.
    """
    numbas = cast(Any, JITCodeLibrary)
    names = "_optimize_final_module", "_finalize_final_module", "serialize_using_object_code"
    if not all(hasattr(numbas, name) for name in names):
        return
    optimise, finish, serialise = (getattr(numbas, name) for name in names)

    def optimise_whole(library: Any) -> None:
        if not _is_part(library):
            optimise(library)

    def finish_whole(library: Any) -> None:
        (_finish_part if _is_part(library) else finish)(library)

    def serialise_whole(library: Any) -> Any:
        return library.serialize_using_bitcode() if _is_part(library) else serialise(library)

    for name, changed in zip(names, (optimise_whole, finish_whole, serialise_whole), strict=True):
        setattr(numbas, name, changed)


_make_code_once()


def _forget_code_of_other_versions() -> None:
    """Have kept code that names modules or classes which are gone count as none: numba reads it before it is dated."""
    kept = cast(Any, IndexDataCacheFile)
    if not hasattr(kept, "_load_index"):
        return
    load = kept._load_index

    def load_if_known(index: Any) -> Any:
        try:
            return load(index)
        except (ImportError, AttributeError):
            return {}

    kept._load_index = load_if_known


_forget_code_of_other_versions()


def _look_for_blas_late() -> None:
    """Have numba ask only whether SciPy, whose BLAS it calls, is there: to import that takes half a second.

    Kernels that multiply matrices import it when they are compiled; none of ours does.
    """
    linalg: Any = import_module("numba.np.linalg")
    ensure = getattr(linalg, "ensure_blas", None)
    if ensure is None:
        return

    def look() -> None:
        if find_spec("scipy.linalg") is None:
            ensure()

    linalg.ensure_blas = look
    try:
        import_module("numba.np.arraymath")  # asks once
    finally:
        linalg.ensure_blas = ensure


_signatures: dict[tuple[int, Any, tuple[Any, ...]], tuple[Any, Any]] = {}
"""By number of a function, context and types of arguments: the signature, and the function, which keeps its number."""


def _resolve_operators_once() -> None:
    """Have numba look once for what an operator does with operands of some types, as long as the compiler is at work.

    It tries all overloads at each use, dozens for an index or a sum: a fifth of the time that compiling takes.  What is
    itself compiled, with the flags of its caller, is looked for each time.
    """
    numbas = cast(Any, BaseFunction)
    resolve = numbas.get_call_type

    def resolve_once(function: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        key = id(function), context, args
        if key in _signatures and not kws:
            return _signatures[key][0]
        signature = resolve(function, context, args, kws)
        implementations = getattr(function, "_impl_keys", {})
        if signature and not kws and implementations.get(signature.args) is function.typing_key:
            _signatures[key] = signature, function
        return signature

    numbas.get_call_type = resolve_once


_resolve_operators_once()


LONG_S = 2.0
"""Seconds of compiling after which the log says why people wait."""


class _AtWork(event.Listener):
    """While numba's compiler is at work searches' clocks stand still, and garbage is looked for seldom, which takes a
    fifteenth of the time off.
    """

    def __init__(self) -> None:
        self.depth, self.usual, self.first = 0, gc.get_threshold(), True

    def on_start(self, event: event.Event) -> None:
        """The compiler begins, maybe with what another function calls."""
        if self.depth == 0:
            self.usual = gc.get_threshold()
            gc.set_threshold(*SELDOM)
            compiling.begin()
        self.depth += 1
        if self.first:
            self.first = False
            _look_for_blas_late()

    def on_end(self, event: event.Event) -> None:
        """It is done."""
        self.depth -= 1
        if self.depth == 0:
            _signatures.clear()
            compiling.end()
            gc.set_threshold(*self.usual)


class _Told(event.Listener):
    """Logs, once, that code is made rather than read."""

    said = False

    def on_start(self, event: event.Event) -> None:
        """A function whose code is not kept yet."""
        if not self.said and compiling.so_far_s() > LONG_S:
            self.said = True
            logging.getLogger(__name__).info("compiling the searches: once, a minute or two")

    def on_end(self, event: event.Event) -> None:
        """Its code is there."""


_told = _Told()
event.register("numba:compiler_lock", _AtWork())
event.register("numba:compile", _told)


def _announce_no_locks() -> None:
    """Have numba tell nobody of each of its 50,000 calls of LLVM: a twentieth of the time that compiling takes."""
    told: Any = getattr(getattr(cast(Any, ffi).lib, "_lock", None), "_cblist", None)
    if isinstance(told, list):
        cast(list[Any], told).clear()


_announce_no_locks()

KEPT: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True}
"""Options of all functions: code is kept, and not callable from C."""

FOR_COMPILED_CODE: dict[str, Any] = {"no_cpython_wrapper": True}
"""Options of a function that only compiled code calls: no wrapper is made that takes Python objects."""


def compile_with(**options: Any) -> Callable[[F], F]:
    """Compile a function with numba's `options` to machine code at its first call; the code is kept beside the source.

    Kept code holds that of the functions it calls, so it is made anew if one of the files it comes from changes
    (`kernel_sources`).
    """
    if INTERPRETED:
        return lambda function: function
    compiler = njit(**KEPT, **options)
    return lambda function: cast(F, _once_for_all_constants(_dated_by_sources(compiler(function))))


def _dated_by_sources(dispatcher: Any) -> Any:
    """Kept code counts while all files that it comes from are as they were; numba asks for its own file only."""
    kept = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if kept is not None:
        kept._source_stamp = tuple(version(Path(dispatcher.py_func.__code__.co_filename)))
    return dispatcher


def _once_for_all_constants(dispatcher: Any) -> Any:
    """Calls with constants use the code for any number; left alone, numba compiles a function for each constant."""
    template = dispatcher.get_call_template

    def general(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return template(tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = general
    return dispatcher


compiled = compile_with()
inner = compile_with(**FOR_COMPILED_CODE)

bare = compile_with(_nrt=False, **FOR_COMPILED_CODE)
"""Like `inner`, without reference counts: for functions that make no arrays.  Counting takes most of the time where
tuples of many arrays are passed on."""

bare_entry = compile_with(_nrt=False)
"""Like `compiled`, without reference counts; must not return a named tuple to Python, where numba 0.68 would crash."""


@bare
def popcount(word: np.uint64) -> int:
    """How many bits of a word are set."""
    pairs = word - (word >> np.uint64(1) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (pairs >> np.uint64(2) & np.uint64(0x3333333333333333))
    eights = fours + (fours >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(eights * np.uint64(0x0101010101010101) >> np.uint64(56))
