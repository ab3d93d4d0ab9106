"""The tools' commands without their start-up, for tests that run many of them as a user types them.

Each command in `folder()` asks a server, which has imported all that the tools import, to fork and to run it there with
the same arguments, environment, working folder and streams.
"""

import io
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NoReturn

COMMANDS = ("tilewright", "tilewright-opt", "filecheck")
KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=5 n=3 k=7"
FIRST = (
    ("run", KERNEL, "--no-trace", "-o", "OUT"),
    ("map", KERNEL, "--target", "conventional", "--time-limit", "0.05"),
    ("schedule", "gpt2_small_decode", "--tokens", "5", "--rounds", "1"),
)
"""Commands that load compiled code which most others call, each for some tenths of a second."""

CLIENT = """\
import _socket, os, sys
message = "\\0".join([str(len(sys.argv)), *sys.argv, os.getcwd(), *(f"{k}={v}" for k, v in os.environ.items())])
data = message.encode("utf-8", "surrogateescape")
server = _socket.socket(_socket.AF_UNIX)
server.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(data).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(data)
status = server.recv(1)
sys.exit(status[0] if status else 139)
"""
"""`socket` takes as long to import as all else of this, hence what is below it."""


@cache
def folder() -> Path:
    """The folder that goes in front of PATH; its server ends with this process."""
    path = Path(tempfile.mkdtemp(prefix="commands-"))
    server = subprocess.Popen([sys.executable, __file__, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    for name in (*COMMANDS, "warm-python"):
        command = path / name
        command.write_text(f"#!{sys.executable} -ISs\n{CLIENT}")
        command.chmod(0o755)
    return path


def serve(path: Path) -> None:
    """Answer at `path`/socket until stdin ends."""
    from tilewright.cli import main

    known = {e.name: e.load() for e in entry_points(group="console_scripts") if e.name in COMMANDS}
    known["warm-python"] = run_file
    import_all("tilewright")
    import_module("tilewright.frontends.acg.parse").grammar()
    with redirect_stdout(io.StringIO()):
        for command in FIRST:
            main([word.replace("OUT", str(path / "first")) for word in (*command, "--json")])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path / "socket"))
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            caller, _ = listener.accept()
            if os.fork() == 0:
                answer(caller, known)
            caller.close()


def import_all(package: str) -> None:
    """Import a package and all below it."""
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        import_module(module.name)


def answer(caller: socket.socket, known: dict[str, Callable[[], Any]]) -> NoReturn:
    """Run the command that the caller sends, tell its exit status, and end this process."""
    status = 1
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        size, streams, _, _ = socket.recv_fds(caller, 8, 3)
        data = b""
        while len(data) < int.from_bytes(size, "big"):
            data += caller.recv(1 << 20)
        count, *parts = data.decode("utf-8", "surrogateescape").split("\0")
        sys.argv, (cwd, *environment) = parts[: int(count)], parts[int(count) :]
        os.chdir(cwd)
        os.environ.clear()
        for name, _, value in (pair.partition("=") for pair in environment):
            os.environ[name] = value
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        status = ending(known[Path(sys.argv[0]).name])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        caller.sendall(bytes([status & 255]))
        os._exit(0)


def ending(run: Callable[[], Any]) -> int:
    """The exit status of a console script's function, as `sys.exit` has it."""
    try:
        code = run()
    except SystemExit as end:
        code = end.code
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def run_file() -> None:
    """`warm-python FILE`."""
    sys.path.insert(0, str(Path(sys.argv[1]).parent))
    runpy.run_path(sys.argv[1], run_name="__main__")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
