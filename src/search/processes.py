"""Work in several processes that end with this one, however it ends, and answer with their best when it is stopped."""

import ctypes
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process, process
from threading import Thread
from time import monotonic
from typing import Any, Generic, TypeVar, cast

from ..costs.clock import children_seconds, copies, team
from ..interruption import Interrupted, answer_with_best, listen, requested, stop_if_cause_of, stoppable, whole

Item = TypeVar("Item")
Result = TypeVar("Result")

GRACE_S = 5.0
"""Seconds that processes have to answer with their best after they are asked to stop."""

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when its parent ends."""

FORKS = sys.platform == "linux"
"""Whether processes may begin as copies of this one."""

_SPAWN = get_context("spawn")

_PACKAGE = logging.getLogger(__name__.partition(".")[0])


@dataclass(frozen=True)
class _Warned:
    """What was warned of on the way to an answer."""

    message: str


class _Kept(logging.Handler):
    """Keeps the first of equal warnings until they are sent."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.known: set[str] = set()
        self.fresh: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message not in self.known:
            self.known.add(message)
            self.fresh.append(message)

    def send(self, pipe: connection.Connection) -> None:
        """Tell the parent what was not told."""
        while self.fresh:
            pipe.send(_Warned(self.fresh.pop(0)))


@dataclass
class _Worker(Generic[Item]):
    """A process, the pipe to it, and the number of the item that it works on."""

    process: process.BaseProcess
    pipe: connection.Connection
    place: int = -1


def in_processes(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    note: Callable[[int, Result], None],
    *,
    together: bool = False,
    copied: bool = False,
) -> None:
    """Call `note(place, result)` with `work(items[place])` as each ends, of `jobs` processes side by side.

    `work` and `items` are pickled.  With `together` the time limits (`clock.Limit`) of all are one limit: what they
    spend is added up.  With `copied` processes begin as copies of this one (where it `FORKS`), so that `work` need not
    be pickled and has all that this process has in memory.  When this process is asked to stop, so are they; what they
    answer with then is noted, too.  An error in a process is raised here, after all were ended; what a process warns of
    is warned of here.
    """
    count = min(jobs, len(items))
    spent = _SPAWN.RawArray("d", count) if together else None
    workers: list[_Worker[Item]] = []
    children_s = children_seconds()
    waiting = iter(range(len(items)))
    try:
        with stoppable():
            for place in range(count):
                with whole():
                    workers.append(_start(work, spent, place, copied))
            busy = [worker for worker in workers if _give(worker, items, waiting)]
            while busy:
                busy = _collect(busy, items, waiting, note)
        if requested():
            _stop(workers, note)
    finally:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()
            worker.pipe.close()
        if copied:
            copies.add_since(children_s)


def _start(work: Callable[..., Any], spent: Any, place: int, copied: bool) -> _Worker[Any]:
    """A process that hears no SIGINT, which a terminal sends to all processes: the parent asks it to stop."""
    here, there = _SPAWN.Pipe()
    context = get_context("fork") if copied else _SPAWN
    child = context.Process(target=_serve, args=(work, there, spent, place, os.getpid()), daemon=True)
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        child.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
    there.close()
    return _Worker(child, here)


def _give(worker: _Worker[Item], items: Sequence[Item], waiting: Any) -> bool:
    """Give a process the next item; whether there was one."""
    worker.place = next(waiting, -1)
    if worker.place >= 0:
        worker.pipe.send(items[worker.place])
    return worker.place >= 0


def _collect(
    busy: list[_Worker[Item]], items: Sequence[Item], waiting: Any, note: Callable[[int, Any], None]
) -> list[_Worker[Item]]:
    """Note what is ready; the processes that go on.  A process has its next item before its last answer is noted."""
    ready = connection.wait([worker.pipe for worker in busy])
    ended: list[_Worker[Item]] = []
    for worker in [worker for worker in busy if worker.pipe in ready]:
        place, worker.place = worker.place, -1
        answer = _answer_of(worker)
        if not _give(worker, items, waiting):
            ended.append(worker)
        note(place, answer)
    return [worker for worker in busy if worker not in ended]


def _answer_of(worker: _Worker[Any]) -> Any:
    """What a process answers; raises its error."""
    try:
        while isinstance(told := worker.pipe.recv(), _Warned):
            _PACKAGE.warning(told.message)
        good, answer = told
    except (EOFError, OSError):
        worker.process.join()
        raise RuntimeError(f"a worker process ended with {worker.process.exitcode}") from None
    if not good:
        raise cast(BaseException, answer)
    return answer


def _stop(workers: Sequence[_Worker[Any]], note: Callable[[int, Any], None]) -> None:
    """Ask processes to stop, and note what they have found."""
    busy = [worker for worker in workers if worker.place >= 0 and worker.process.is_alive()]
    for worker in busy:
        worker.process.terminate()
    end = monotonic() + GRACE_S
    while busy and (left := end - monotonic()) > 0:
        ready = connection.wait([worker.pipe for worker in busy], left)
        for worker in [worker for worker in busy if worker.pipe in ready]:
            busy.remove(worker)
            try:
                note(worker.place, _answer_of(worker))
            except RuntimeError:
                continue  # it had found nothing


def _serve(work: Callable[[Any], Any], pipe: connection.Connection, spent: Any, place: int, parent: int) -> None:
    """The life of a process: items come in, answers go out, until nobody sends any more."""
    _end_with(parent)
    warned = _Kept()
    logging.root.handlers.clear()  # of the parent, where this process is a copy
    _PACKAGE.handlers[:] = [warned]
    try:
        listen()
        answer_with_best()
        if spent is not None:
            team.join(spent, place)
        while not requested():
            item, answer = pipe.recv(), None
            with stoppable():
                answer = _try(work, item)
            if answer is not None:
                warned.send(pipe)
                pipe.send(answer)
    except (EOFError, OSError, Interrupted):
        pass  # the parent has gone, or asks to stop before anything was found


def _try(work: Callable[[Any], Any], item: Any) -> tuple[bool, Any]:
    try:
        return True, work(item)
    except Exception as error:
        stop_if_cause_of(error)
        return False, error


def _end_with(parent: int) -> None:
    """End this process when its parent ends, also when that is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)
    Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    """For systems that do not tell: the parent's end of a pipe closes."""
    above = parent_process()
    if above is not None:
        above.join()
        os._exit(1)
