"""What a request to stop does to the program: SIGINT (Ctrl-C) and SIGTERM.

From `listen` on, either raises `Interrupted` wherever the main thread is.  A command whose answer may be the best found
so far says so by `answer_with_best`.  From then on a request ends the innermost block of `stoppable`, quietly, and goes
no further; after such a block, and in one of `finishing`, it is only noted (`requested`), so that the answer is given.
"""

from __future__ import annotations

import signal
import sys
from importlib.machinery import ExtensionFileLoader
from threading import current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM)

AGAIN_S, RETRY_S = 1.0, 0.05
"""Seconds for which further requests count as the same one (`timeout` sends each twice); and after which one is raised
again that was lost in a callback, or that came while a compiled module was initialised."""


class Interrupted(BaseException):
    """The process was asked to stop; no `Exception`, as nothing but the end of the program is meant."""


class _State:
    """Which signal came first, and when; what is to be done about it."""

    number = 0
    since = 0.0
    best_wanted = False
    answering = False
    blocks = 0

    @property
    def raises(self) -> bool:
        return self.blocks > 0 or not self.answering


_state = _State()


def as_program(run: Callable[[], int]) -> int:
    """The exit code of `run`, as the whole of a process; 130 or 143, and a line on stderr, where it was stopped."""
    try:
        listen()
        code = run()
        finish()
    except Interrupted:
        print("tilewright: interrupted", file=sys.stderr)
        code = 0
    ignore()
    return exit_code() or code


def listen() -> None:
    """Let SIGINT and SIGTERM raise `Interrupted`, unless the process was started deaf to them."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _take)
    sys.unraisablehook = _retry


def ignore() -> None:
    """Nothing is left that could be stopped."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def answer_with_best() -> None:
    """The command wants the best that its searches have found when a request comes."""
    _state.best_wanted = True


def requested() -> bool:
    """Whether a request to stop has come; in any thread."""
    return _state.number != 0


def exit_code() -> int:
    """The exit code that shells expect after the signal that came, 0 if none did."""
    return 128 + _state.number if requested() else 0


def stop_unless(found: object) -> None:
    """Raises `Interrupted` where a request came before there was anything to answer with."""
    if requested() and not found:
        raise Interrupted


def stop_if_cause_of(error: BaseException) -> None:
    """Raises `Interrupted` where that became `error`: Python and libraries turn exceptions into others at places."""
    if _came_of_request(error):
        raise Interrupted


def _came_of_request(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and not isinstance(error, Interrupted) and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return isinstance(error, Interrupted)


def hold() -> None:
    """There is something to answer with where the best is wanted: the search goes on, and looks at `requested`."""
    _state.answering = _state.answering or _state.best_wanted


def finish() -> None:
    """All that is left is to answer, which a request does not stop."""
    _state.answering = True


class stoppable:
    """A block that a request ends at any point, quietly, where the best so far is wanted; what it found is kept."""

    def __enter__(self) -> None:
        self.counts = _state.best_wanted and current_thread() is main_thread()
        _state.blocks += self.counts

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        _state.answering = _state.answering or self.counts
        _state.blocks -= self.counts
        return self.counts and _state.best_wanted and _came_of_request(error)


class whole:
    """A block that is done before a request ends the command, so that what it writes is whole."""

    def __enter__(self) -> None:
        self.blocks, self.answering = _state.blocks, _state.answering
        self.asked = requested()
        _state.answering, _state.blocks = True, 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        _state.blocks, _state.answering = self.blocks, self.answering
        if kind is None and requested() and not self.asked and _state.raises:
            raise Interrupted
        return False


_ENDS = frozenset({stoppable.__exit__.__code__, whole.__enter__.__code__, whole.__exit__.__code__})
"""Where blocks begin and end their care; a request that comes there is noted."""

_LOADS = frozenset({ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__})
"""Where compiled modules are initialised."""


def _take(number: int, frame: FrameType | None) -> None:
    """A signal came."""
    now = monotonic()
    if not requested():
        _state.number, _state.since = number, now
    elif now - _state.since < AGAIN_S:
        return
    else:  # asked again: stop at once
        _state.answering, _state.best_wanted = False, False
        raise Interrupted
    _stop(frame)


def _stop(frame: FrameType | None) -> None:
    """Raise the request where the main thread is, unless it is to be noted only, or to be raised later."""
    if not _state.raises or (frame is not None and frame.f_code in _ENDS):
        return
    if hasattr(signal, "setitimer") and _initialises(frame):
        _try_later()
    else:
        raise Interrupted


def _initialises(frame: FrameType | None) -> bool:
    """Whether a compiled module is being initialised: some turn an exception there into another, or abort."""
    while frame is not None and frame.f_code not in _LOADS:
        frame = frame.f_back
    return frame is not None


def _try_later() -> None:
    signal.signal(signal.SIGALRM, _again)
    signal.setitimer(signal.ITIMER_REAL, RETRY_S)


def _retry(lost: sys.UnraisableHookArgs) -> None:
    """Raise a request again that came in a callback, where errors get lost."""
    if lost.exc_type is not Interrupted:
        if not requested():  # else it may come of an object that a request left half made
            sys.__unraisablehook__(lost)
    elif hasattr(signal, "setitimer"):
        _try_later()


def _again(number: int, frame: FrameType | None) -> None:
    _stop(frame)
