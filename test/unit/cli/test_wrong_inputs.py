"""A hundred wrong inputs: each is told in one located paragraph that says what to change, and leaves nothing behind."""

import json
import multiprocessing
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli import main

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
LONGEST = 1700
"""Characters of an error; the longest ones list all networks, targets or operators."""

USAGE = """
                                            | required: COMMAND
nothing                                     | invalid choice: 'nothing'
run                                         | MODEL or --binary FILE
run m.onnx --unknown                        | unknown --unknown
run m.onnx --seed -1                        | --seed: expected at least 0
run m.onnx --seed 1e3                       | --seed
run m.onnx --seed 99999999999999999999999   | --seed
run m.onnx --tolerance -1                   | --tolerance
run m.onnx --tolerance nan                  | --tolerance
run m.onnx --tolerance inf                  | --tolerance
run m.onnx --partition nope                 | --partition: expected one of
run m.onnx --partition best --tile-rows 0   | --tile-rows
run m.onnx --partition best --time-limit -1 | --time-limit
run m.onnx --tile-rows 4                    | --tile-rows
run m.onnx --tokens 4                       | --tokens
run m.onnx --rounds 4                       | --rounds
run m.onnx --batch 0                        | --batch
run m.onnx --batch 2 --batch 3              | --batch
run m.onnx --shape x                        | --shape
run m.onnx --shape x=axb                    | --shape
run m.onnx --dim n=-1                       | --dim
run m.onnx --read y=0:int8:1                | --read
run built --partition best                  | --partition
run built --target tiny                     | --target
run built --no-check                        | --no-check
run vgg16 --schedule ours --partition best  | --schedule: expected one of --partition and --schedule
run vgg16 --schedule nope                   | --schedule: expected a .mlir file, or one of
run vgg16 --schedule x.mlir --rounds 2      | --rounds
compile KERNEL --time-limit 3               | --time-limit
compile m.onnx --partition none --gap 0.1   | --gap
run m.onnx --partition greedy --gap 0.1     | --gap
compile KERNEL --batch 3                    | --batch
compile KERNEL --target hvx --no-prove      | --no-prove
map KERNEL                                  | no --target
map                                         | no KERNEL
map KERNEL --target tiny --objective fast   | --objective
map KERNEL --target tiny --method best      | --method
map KERNEL --target tiny --jobs 0           | --jobs
map KERNEL --target tiny --jobs x           | --jobs
map KERNEL --target tiny --gap -1           | --gap
map KERNEL --target tiny --gap nan          | --gap
map KERNEL --target tiny --time-limit 0     | --time-limit
map KERNEL --target tiny --types O=i9       | --types
map KERNEL --cases list.json                | both
map --cases list.json --seed 1              | --seed
price x.mlir list.json                      | one .json file
partition vgg16 --method nope               | --method
partition vgg16 --objective edp             | --objective
partition vgg16 --global-kib 0              | --global-kib
partition vgg16 --weight-kib -4             | --weight-kib
partition vgg16 --cores 0                   | --cores
partition vgg16 --alpha 0                   | --alpha
partition vgg16 --samples 0                 | --samples
partition vgg16 --tile-columns 4            | --tile-columns
explore vgg16 --samples 0                   | --samples
explore vgg16 --alpha nan                   | --alpha
explore vgg16 --method greedy               | --method
schedule vgg16 --tokens 4                   | --tokens
schedule vgg16 --rounds 0                   | --rounds
schedule vgg16 --energy-power 11            | --energy-power
schedule vgg16 --jobs -2                    | --jobs
schedule vgg16 --method best                | --method
targets -o x.acg                            | --output
networks extra                              | extra
"""

BAD = """
run README.md                               | README.md: expected an .onnx, .tflite or .mlir file
run no-such-model                           | no-such-model: expected an .onnx, .tflite or .mlir file
run missing.onnx                            | missing.onnx
run resnet50:i9                             | resnet50:i9: expected one of resnet50:i8, resnet50:f32
compile resnet18:i8                         | resnet18:i8: expected one of resnet18:shifted
partition resnet50:                         | resnet50:: expected one of
run folder                                  | folder: expected a folder written by compile
run hvxother                                | packets.json: expected its bytes as they were written
run empty.onnx                              | empty.onnx
run cut.onnx                                | cut.onnx
run latin.onnx                              | latin.onnx: expected names in UTF-8
run x.mlir                                  | x.mlir:1:14
run bytes.mlir                              | bytes.mlir: expected text in UTF-8
run big.mlir                                | big.mlir
run altered                                 | altered/program.bin: expected its bytes as they were written
run m.onnx --inputs missing.npz             | missing.npz
run m.onnx --inputs folder                  | folder
run m.onnx --inputs objects.npz             | objects.npz
run m.onnx --inputs objects.npy             | objects.npy
run m.onnx --inputs cut.npz                 | cut.npz
run m.onnx --inputs checksum.npz            | checksum.npz
run m.onnx --inputs empty.npz               | empty.npz: expected at least one array
run m.onnx --inputs words.npz               | words.npz: x: expected numbers
run m.onnx --inputs other.npz               | 'q'
run m.onnx --inputs large.npz               | shape (2, 4)
run m.onnx --inputs README.md               | README.md
run m.onnx --expect other.npz               | 'q'
run m.onnx --shape z=1x4                    | z
run m.onnx --target missing                 | missing: expected one of
run m.onnx --target folder                  | folder
run m.onnx --target README.md               | README.md:1:1
run m.onnx --target bytes.mlir              | bytes.mlir: expected text in UTF-8
run m.onnx --target eyeriss_like            | m.onnx: expected layers that sum products
run m.onnx -o README.md                     | README.md: expected a folder that can be written here
run m.onnx -o README.md/x                   | README.md/x: expected a folder that can be written here
compile KERNEL --target tiny -o README.md   | README.md: expected a folder that can be written here
compile O[m]+=A[m,k];m=4                    | dim k: expected an extent
compile O[m]=A[m];m=0                       | bound m
compile O[m]=A[m];m=99999999999999999999    | bound m
compile O[m]=A[m];m=100000 --target tiny    | of DRAM
map KERNEL --target missing                 | missing: expected one of
map KERNEL --target bad.yaml                | bad.yaml:1: expected YAML
map KERNEL --target tiny -o no/x.svg        | no/x.svg: expected a file that can be read or written here

map resnet18:nolayer --target tiny          | nolayer
map README.md --target tiny                 | README.md
map m.onnx:nonode --target tiny             | nonode
map --cases missing.json                    | missing.json
map --cases list.json                       | list.json[0]: expected an object, found 1
map --cases null.json                       | null.json: expected a list of cases, found nothing
check null.json                             | null.json: expected an object, found nothing
check object.json                           | object.json.arch: expected an object, found nothing
price-schedule object.json                  | object.json: runs: expected a list, found nothing
price object.json                           | object.json: expected a list random_mappings
price empty.json                            | empty.json: expected JSON
price list.json                             | list.json: expected an object
price folder                                | folder
price-schedule x.mlir                       | x.mlir:1:14
price-schedule bytes.mlir                   | bytes.mlir
partition no-such-network                   | no-such-network
partition vgg16 --state list.json           | list.json: expected an object
schedule no-such-network                    | no-such-network
schedule m.onnx --target tiny               | tiny: expected a square array
targets --target missing                    | missing: expected one of
targets --import bad.yaml                   | bad.yaml:1: expected YAML
targets --import missing.yaml -o x.acg      | missing.yaml
assemble missing.s --target genesys16       | missing.s
disassemble missing.bin --target genesys16  | missing.bin
"""


def cases() -> Iterator[tuple[int, list[str], str]]:
    for code, table in ((2, USAGE), (1, BAD)):
        for line in filter(str.strip, table.strip("\n").splitlines()):
            command, _, words = line.partition("|")
            yield code, [KERNEL if word == "KERNEL" else word for word in command.split()], words.strip()


def model() -> bytes:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", "y")]
    nodes = [helper.make_node("Add", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"], name="act")]
    weight = numpy_helper.from_array(np.ones((1, 4), np.float32), "w")
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [weight])
    return helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]).SerializeToString()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    texts = {"README.md": "# words\n", "x.mlir": "func.func @x(", "empty.json": "", "list.json": "[1, 2]"}
    texts |= {"null.json": "null", "object.json": "{}"}
    texts |= {"bad.yaml": "a: [1,", "big.mlir": '%0 = "test.op"() {a = 99999999999999999999 : i8} : () -> i32'}
    for name, text in texts.items():
        (folder / name).write_text(text)
    content = model()
    (folder / "m.onnx").write_bytes(content)
    (folder / "empty.onnx").touch()
    (folder / "cut.onnx").write_bytes(content[:-30])
    (folder / "latin.onnx").write_bytes(content.replace(b"Relu", b"R\xe9lu"))
    (folder / "bytes.mlir").write_bytes(bytes(range(256)))
    np.savez(folder / "ok.npz", x=np.ones((1, 4), np.float32))
    np.savez(folder / "objects.npz", x=np.array([{}]))
    np.save(folder / "objects.npy", np.array([{}]))
    np.savez(folder / "empty.npz")
    np.savez(folder / "words.npz", x=np.array(["a", "b"]))
    np.savez(folder / "other.npz", q=np.ones(3))
    np.savez(folder / "large.npz", x=np.ones((2, 4), np.float32))
    whole = (folder / "ok.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (folder / "checksum.npz").write_bytes(whole[:130] + bytes([whole[130] ^ 255]) + whole[131:])
    (folder / "folder").mkdir()
    for name in ("built", "altered"):
        assert main(["compile", KERNEL, "--target", "tiny", "-o", str(folder / name)]) == 0
    assert main(["compile", "O[i] = A[i] + B[i]; i=32", "--target", "hvx", "-o", str(folder / "hvxother")]) == 0
    (folder / "hvxother/packets.json").write_text("{}")
    program = folder / "altered/program.bin"
    program.write_bytes(program.read_bytes()[::-1])
    return folder


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_there_are_a_hundred():
    assert len(list(cases())) >= 100


@pytest.mark.parametrize(("code", "arguments", "words"), list(cases()), ids=lambda value: str(value)[:60])
def test_wrong_inputs(
    code: int,
    arguments: list[str],
    words: str,
    inputs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(inputs)
    before = files(inputs)
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    check_paragraph(err, words)
    assert main([*arguments, "--json"]) == code
    error = json.loads(capsys.readouterr().out)["error"]
    assert all(error[key] for key in ("kind", "subject", "expected", "found", "lever"))
    assert files(inputs) == before
    assert multiprocessing.active_children() == []


def check_paragraph(err: str, words: str) -> None:
    """One paragraph with place and lever, and nothing of Python's."""
    told = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("tilewright: warning: "))
    assert re.match(r"tilewright: [a-z]+: .*: expected .*, found .*; ", told, re.DOTALL), told
    assert words in told
    assert "\ntilewright: " not in told
    assert len(told) < LONGEST
    assert not re.search(r"Traceback|\b\w+(Error|Exception)\b|\bNone\b|<class|allow_pickle|codec", told), told


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("command", [["run", KERNEL], ["compile", KERNEL], ["map", KERNEL]], ids=lambda c: c[0])
def test_a_full_disk(command: list[str], small_disk: Path, capsys: pytest.CaptureFixture[str]):
    (small_disk / "old").write_bytes(bytes(4096 * 3 + 100))
    output = small_disk if command[0] != "map" else small_disk / "x.svg"
    assert main([*command, "--target", "tiny", "-o", str(output)]) == 1
    check_paragraph(capsys.readouterr().err, "no space left on device; make room")
    assert files(small_disk) == {small_disk / "old"}
