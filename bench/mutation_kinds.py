"""The kinds of files that `mutations.py` changes: what they begin as, and the command that reads them."""

from __future__ import annotations

import importlib
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
import yaml
from mutation_edits import edit_bytes, edit_model, edit_text, edit_value
from mutation_meaning import lowered_differs, onnxruntime_differs
from mutation_run import Case
from onnx import numpy_helper

from tilewright.backends.assembler import disassemble
from tilewright.cli import command_line
from tilewright.driver import CompileOptions, compile, pipeline_text
from tilewright.files import sealed_table
from tilewright.frontends.acg import load_target, target_files

ROOT = Path(__file__).parents[1]
KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
NODE_TESTS = """add averagepool batch_normalization clip concat constant conv div dequantizelinear expand flatten gather
gemm globalaveragepool layernormalization matmul maxpool mul pad pow prelu quantizelinear reducemax reducemean reshape
resize sigmoid slice softmax split squeeze sub transpose unsqueeze where""".split()
SMALL = "edge16:DRAM.depth=65536"
"""The memory off chip is an array: a small one leaves room for what goes wrong."""
MODEL_BYTES = 4000
"""Larger models are left out."""

Kind = Callable[[Random, Path], Case]


@cache
def models() -> list[bytes]:
    """Small models that the onnx wheel tests itself with."""
    for name in NODE_TESTS:
        importlib.import_module(f"onnx.backend.test.case.node.{name}")
    cases = vars(importlib.import_module("onnx.backend.test.case.node"))["_NodeTestCases"]
    found = [case.model.SerializeToString() for case in cases if case.model is not None]
    data = Path(onnx.__file__).parent / "backend/test/data"
    found += [path.read_bytes() for path in sorted(data.glob("*/*/model.onnx"))]
    return [model for model in found if len(model) <= MODEL_BYTES]


def onnx_bytes(random: Random, folder: Path) -> Case:
    data = edit_bytes(random, random.choice(models()), models())
    return _run_model(folder, data)


def onnx_structure(random: Random, folder: Path) -> Case:
    model = onnx.ModelProto.FromString(random.choice(models()))
    return _run_model(folder, edit_model(random, model).SerializeToString())


@cache
def tflite_models() -> list[bytes]:
    """The TFLite models of the tests."""
    sys.path.insert(0, str(ROOT / "test"))
    from tflite_files.recorded import MODELS

    return [build() for build in MODELS.values()]


def tflite(random: Random, folder: Path) -> Case:
    """Half of the times numbers are overwritten, so that the offsets behind them stay."""
    data = bytearray(random.choice(tflite_models()))
    for _ in range(random.choice([1, 1, 2, 4])):
        size = random.choice([1, 1, 4])
        start = random.randrange(len(data) - size)
        number = random.choice([0, 1, 127, 255, 2**20, 2**31 - 1, 2**32 - 1, len(data), random.getrandbits(32)])
        data[start : start + size] = (number % 256**size).to_bytes(size, "little")
    path = folder / "x.tflite"
    edited = bytes(data) if random.random() < 0.5 else edit_bytes(random, bytes(data), tflite_models())
    path.write_bytes(edited)
    return Case(["run", str(path), "-o", str(folder / "out"), "--no-prove", "--no-trace", "--json"])


def _run_model(folder: Path, data: bytes) -> Case:
    path = folder / "x.onnx"
    path.write_bytes(data)
    arguments = ["run", str(path), "-o", str(folder / "out"), "--no-prove", "--no-trace", "--json"]
    return Case(arguments, lambda _: onnxruntime_differs(path, folder / "out/outputs.npz"))


def acg(random: Random, folder: Path) -> Case:
    """A mutated target: described; a small one also compiled for, and others mapped on."""
    names = sorted(target_files())
    name = random.choice([*names, "tiny", "tiny", "tiny"])
    path = folder / "x.acg"
    _write(path, edit_text(random, target_files()[name].read_text()))
    if name == "tiny" and random.random() < 0.7:
        return Case(["run", KERNEL, "--target", str(path), "-o", str(folder / "out"), "--no-trace", "--json"])
    if random.random() < 0.2:
        return Case(["map", KERNEL, "--target", str(path), "--time-limit", "0.2", "--json"])
    return Case(["targets", "--target", str(path), "--json"])


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape" if not re.search("[\ud800-\udc7f]", text) else "replace"))


@cache
def foreign_texts() -> list[str]:
    """Small functions as JAX and torch-mlir print them."""
    files = [ROOT / f"test/data/mlir/{name}_operations.json" for name in ("jax", "linalg")]
    return [text for path in files for text in json.loads(path.read_text()).values()]


def foreign(random: Random, folder: Path) -> Case:
    path = folder / "x.mlir"
    _write(path, edit_text(random, random.choice(foreign_texts())))
    return Case([str(path)], optimizer=True)


@cache
def stages() -> list[tuple[str, str, tuple[str, ...]]]:
    """(level, text, passes that follow) of small models after each pass."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    passes = pipeline_text("tiny").split(",")
    with tempfile.TemporaryDirectory() as name:
        layers = next(model for model in models() if b"Gemm" in model)
        for number, source in enumerate((KERNEL, layers)):
            folder = Path(name) / str(number)
            compile(source, target="tiny", options=CompileOptions(dump=folder))
            for done, path in enumerate(sorted(folder.glob("*.mlir"))):
                whole = path.read_text()
                start = re.search(r"^  (func\.func|codelet\.program|mnemonic\.program)", whole, re.MULTILINE)
                text = f"builtin.module {{\n{whole[start.start() :]}" if start else whole
                found.append((level_of(text), text, (passes[0], *passes[max(1, done) :])))
    return found


def level_of(text: str) -> str:
    """The lowest dialect that a text has."""
    levels = ("mnemonic", "codelet", "dram", "nest", "graph", "acg")
    return next((level for level in levels if re.search(rf"\b{level}\.", text)), "graph")


@cache
def lit_pieces() -> list[tuple[str, str, tuple[str, ...]]]:
    """(level, text, passes of its first RUN line) of the pieces of all lit tests, and of the zoo's operators."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for path in sorted([*(ROOT / "test/lit").rglob("*.mlir"), *(ROOT / "src/zoo/operators").glob("*.mlir")]):
        text = path.read_text()
        named = re.search(r"RUN:.*-p ('[^']*'|\"[^\"]*\"|\S+)", text)
        passes = (named[1].strip("'\"").replace("%S", str(path.parent)),) if named else ()
        pieces = re.sub(r"^ *//.*(RUN|CHECK).*\n", "", text, flags=re.MULTILINE).split("// -----")
        found += [(level_of(piece), piece, passes) for piece in pieces if len(piece) < 20_000]
    return found


def mlir(level: str) -> Kind:
    """Mutated IR of a level, through the passes that come next."""

    def make(random: Random, folder: Path) -> Case:
        dumped = random.random() < 0.5
        found = [stage for stage in (stages() if dumped else lit_pieces()) if stage[0] == level]
        _, text, passes = random.choice(found or [stage for stage in lit_pieces() if stage[0] == level])
        count = random.randrange(5) if len(passes) > 1 else random.randrange(2)
        path = folder / "x.mlir"
        _write(path, edit_text(random, text))
        todo = ",".join(passes[: count + 1] if count else ())
        arguments = [str(path), *(["-p", todo] if todo else [])]
        check = (
            (lambda _: lowered_differs(path, passes[1 : count + 1], passes[0]))
            if dumped and count and len(passes) > 1
            else None
        )
        return Case(arguments, check, optimizer=True)

    return make


@cache
def timeloop_files() -> dict[str, str]:
    """Architecture, problem and mapping as `map --write-timeloop` writes them, and those of docs/timeloop.md."""
    with tempfile.TemporaryDirectory() as name:
        command = ["map", KERNEL, "--target", "eyeriss_like", "--time-limit", "1", "--write-timeloop", name, "--json"]
        subprocess.run([*_command(), *command], check=True, capture_output=True)
        files = {path.name: path.read_text() for path in sorted(Path(name).rglob("*.yaml"))}
    blocks = re.findall(r"```yaml (\S+)\n(.*?)```", (ROOT / "docs/timeloop.md").read_text(), re.DOTALL)
    return files | {f"docs-{path}": text for path, text in blocks}


def _command() -> list[str]:
    return [sys.executable, "-m", command_line.PACKAGE]


def timeloop(random: Random, folder: Path) -> Case:
    """One of three files mutated, as text or as values; priced, imported, or mapped."""
    prefix = random.choice(["docs-", ""])
    files = {k: v for k, v in timeloop_files().items() if k.startswith("docs-") == bool(prefix)}
    changed = random.choice(list(files))
    if random.random() < 0.5:
        files[changed] = edit_text(random, files[changed])
    else:
        text = re.sub(r"!\w+", "", files[changed])
        files[changed] = yaml.safe_dump(edit_value(random, yaml.safe_load(text)))
    for name, text in files.items():
        _write(folder / name, text)
    paths = [str(folder / name) for name in files]
    (arch, *_), (problem, *_) = [[p for p in paths if part in p] for part in ("arch", "layer" if prefix else "problem")]
    match random.randrange(4):
        case 0:
            return Case(["targets", "--import", arch, "--json"])
        case 1:
            effort = ["--method", "random", "--time-limit", "0.1"]
            return Case(["map", problem, "--target", arch, *effort, "--json"])
        case _:
            return Case(["price", *paths, "--model", random.choice(["exact", "timeloop"]), "--json"])


@cache
def compiled() -> dict[str, dict[str, bytes]]:
    """The files of compiled folders: a kernel, a model with weights, a quantised one for loops."""
    weighted = next(m for m in models() if b"Conv" in m and onnx.ModelProto.FromString(m).graph.initializer)
    found: dict[str, dict[str, bytes]] = {}
    with tempfile.TemporaryDirectory() as name:
        for label, source, target in (("kernel", KERNEL, "tiny"), ("weights", weighted, SMALL)):
            compile(source, target=target).save(Path(name) / label)
            found[label] = {path.name: path.read_bytes() for path in sorted((Path(name) / label).iterdir())}
    return found


def folders(random: Random, folder: Path) -> Case:
    """A compiled folder with one file changed, mostly with hashes that fit."""
    files = dict(compiled()[random.choice(list(compiled()))])
    name = random.choice(["program.bin", "program.json", "program.json", "target.acg", "weights.npz"])
    table = json.loads(files.pop("program.json"))
    if name == "target.acg":
        files[name] = edit_text(random, files[name].decode()).encode("utf-8", "replace")
    elif name == "weights.npz":
        files[name] = edit_arrays(random, files[name])
    elif name == "program.bin":
        files[name] = edit_bytes(random, files[name], [files[name]])
    for path, data in files.items():
        (folder / path).write_bytes(data)
    seal = {path: folder / path for path in table["files"]}
    table = {key: value for key, value in table.items() if key not in ("files", "table")}
    if name == "program.json":
        table = edit_value(random, table)
    text = sealed_table(table, seal) if isinstance(table, dict) else json.dumps(table)
    (folder / "program.json").write_text(text if random.random() < 0.9 else edit_text(random, text), errors="replace")
    return Case(["run", str(folder), "-o", str(folder / "out"), "--json", *random.choice([[], ["--no-trace"]])])


def _save(stream: io.BytesIO, arrays: dict[str, Any]) -> None:
    np.savez(stream, allow_pickle=True, **arrays)


def edit_arrays(random: Random, data: bytes) -> bytes:
    """The bytes of an .npz with bytes, names, shapes, types or values of arrays changed."""
    if random.random() < 0.4:
        return edit_bytes(random, data, [data])
    with np.load(io.BytesIO(data)) as loaded:
        arrays: dict[str, Any] = dict(loaded)
    for _ in range(random.choice([1, 2])):
        name = random.choice([*arrays, "A", "x"])
        array = arrays.pop(name, np.zeros(3))
        with np.errstate(all="ignore"):
            types = ["f2", "f4", "f8", "i1", "u1", "i4", "i8", "?", "c8", "U3", "M8[s]", ">f4", "V4"]
            edits: list[Callable[[], Any]] = [
                lambda a=array: (a if a.dtype.kind != "V" else np.ones(a.shape)).astype(random.choice(types[:9])),
                lambda a=array: np.zeros(a.shape, random.choice(types)),
                lambda a=array: a.reshape(-1),
                lambda a=array: a[None],
                lambda a=array: a.reshape(-1)[:-1],
                lambda a=array: (
                    (a if a.dtype.kind in "biufc" else np.ones(a.shape))
                    * float(random.choice(["nan", "inf", "1e30", "-1"]))
                ),
                lambda: np.float32(3),
                lambda: np.zeros((0, 4), np.float32),
            ]
        with np.errstate(all="ignore"):
            arrays[random.choice([name, name, name, "", "é", "../x", "O"])] = random.choice(edits)()
        if random.random() < 0.1:
            arrays.popitem()
    stream = io.BytesIO()
    _save(stream, arrays)
    return stream.getvalue()


@cache
def programs() -> list[tuple[str, bytes, str]]:
    """(target, bytes, text) of small programs."""
    found = [("tiny", compiled()["kernel"]["program.bin"]), (SMALL, compiled()["weights"]["program.bin"])]
    listed = [(name, data, disassemble(load_target(name), data)) for name, data in found]
    lines = (ROOT / "test/data/genesys/conv_bias_relu1_binary.txt").read_text()
    text = (ROOT / "test/data/genesys/conv_bias_relu1_string_final.txt").read_text()
    return [*listed, ("genesys16:DRAM.depth=65536", lines.encode(), text)]


def binaries(random: Random, folder: Path) -> Case:
    """A program or its image changed: run, or printed as text."""
    target, data, _ = random.choice(programs())
    image = random.randbytes(600)
    if random.random() < 0.8:
        data = edit_bytes(random, data, [data])
    else:
        image = edit_image(random)
    path, memory = folder / "x.bin", folder / ("x.npz" if image.startswith(b"PK") else "x.img")
    path.write_bytes(data)
    memory.write_bytes(image)
    if random.random() < 0.3:
        return Case(["disassemble", str(path), "--target", target, "--json"])
    ranges = ["y=0:int8:4", "y=64:float32:2x3", "y=600:uint8:1", "y=0:i4:99999x99999999", "=0x10:?:2", "y=-1:int8:2"]
    read = ["--read", random.choice(ranges)] if random.random() < 0.5 else []
    arguments = ["run", "--binary", str(path), "--image", str(memory), "--target", target, *read]
    return Case([*arguments, "-o", str(folder / "out"), "--json"])


def edit_image(random: Random) -> bytes:
    names = ["0", "x@0x10", "y@64", "@", "x", "-1", "z@1e3", "w@18446744073709551616", "0x" + "f" * 40]
    stream = io.BytesIO()
    _save(stream, {name: np.arange(random.randrange(9), dtype="f4") for name in random.sample(names, 2)})
    return edit_arrays(random, stream.getvalue()) if random.random() < 0.5 else stream.getvalue()


def assembly(random: Random, folder: Path) -> Case:
    target, _, text = random.choice(programs())
    path = folder / "x.s"
    _write(path, edit_text(random, text))
    return Case(["assemble", str(path), "--target", target, "-o", str(folder / "x.bin"), "--json"])


def arrays(random: Random, folder: Path) -> Case:
    """Files for --inputs and --expect of a compiled kernel, one of them changed."""
    for name, data in compiled()["kernel"].items():
        (folder / name).write_bytes(data)
    inputs = {"A": np.ones((4, 6), np.float32), "B": np.ones((6, 8), np.float32)}
    files = {"inputs": inputs, "expect": {"O": np.full((4, 8), 6, np.float32)}}
    changed = random.choice(list(files))
    arguments: list[str] = []
    for option, values in files.items():
        form = random.choice(["npz", "npz", "npy", "pb"])
        name = next(iter(values))
        stream = io.BytesIO()
        if form == "npz":
            _save(stream, values)
        elif form == "npy":
            np.save(stream, values[name])
        else:
            stream.write(numpy_helper.from_array(values[name], name).SerializeToString())
        data = stream.getvalue()
        if option == changed:
            data = edit_arrays(random, data) if form == "npz" else edit_bytes(random, data, [data])
        path = folder / f"{option}.{form}"
        path.write_bytes(data)
        arguments += [f"--{option}", str(path)]
    return Case(["run", str(folder), *arguments, "-o", str(folder / "out"), "--no-trace", "--json"])


@cache
def json_files() -> dict[str, str]:
    """JSON for `price`, `map --cases` and `price-schedule`, each small."""
    prices = json.loads((ROOT / "test/data/timeloop_sample.json").read_text())
    names = [key for key in prices if key.endswith("mappings")]
    small = prices | {key: prices[key][:2] for key in names}
    used = {(m["arch"], m["problem"]) for key in names for m in small[key]}
    small["archs"] = {name: prices["archs"][name] for name, _ in sorted(used)}
    small["problems"] = {name: prices["problems"][name] for _, name in sorted(used)}
    arch, problem = (next(iter(small[key].values())) for key in ("archs", "problems"))
    schedules = json.loads((ROOT / "test/data/soma_sample.json").read_text())
    schedules["runs"] = schedules["runs"][:1]
    return {"price": json.dumps(small), "map": json.dumps([{"arch": arch, "problem": problem}])} | {
        "price-schedule": json.dumps(schedules)
    }


def json_values(random: Random, folder: Path) -> Case:
    """Values or text of a JSON file changed."""
    command = random.choice(list(json_files()))
    text = json_files()[command]
    changed = edit_text(random, text) if random.random() < 0.3 else json.dumps(edit_value(random, json.loads(text)))
    path = folder / "x.json"
    _write(path, changed)
    if command == "map":
        return Case(["map", "--cases", str(path), "--time-limit", "0.2", "--json"])
    model = ["--model", random.choice(["exact", "timeloop"])] if command == "price" else []
    return Case([command, str(path), *model, "--json"])


KINDS: dict[str, Kind] = {
    "onnx-bytes": onnx_bytes,
    "onnx-structure": onnx_structure,
    "tflite": tflite,
    "acg": acg,
    **{f"mlir-{level}": mlir(level) for level in ("graph", "nest", "codelet", "dram", "mnemonic", "acg")},
    "foreign": foreign,
    "timeloop": timeloop,
    "folders": folders,
    "binaries": binaries,
    "assembly": assembly,
    "arrays": arrays,
    "json": json_values,
}
