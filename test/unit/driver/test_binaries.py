"""Programs of others by file: a golden one on an image, and what files, images and ranges may be."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tilewright import load_target
from tilewright.arrays import Array, write_arrays
from tilewright.cli import main
from tilewright.driver.binaries import assemble_file, image_pieces, offchip, read_binary, run_binary
from tilewright.errors import TilewrightError

GENESYS = Path(__file__).parents[2] / "data/genesys"
MACHINE = load_target("genesys16")
OUT = "y=0x400000:int32:12x12x64"


def numbers(name: str) -> Array:
    return np.array((GENESYS / f"{name}.txt").read_text().split(), np.int64)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    arrays = {
        "x@0x410000": numbers("data").astype(np.int8),
        "24576": numbers("weight_shuffled").astype(np.uint32).view(np.int8),
        "b@4096": numbers("bias").astype(np.int32),
    }
    write_arrays(tmp_path / "image.npz", arrays)
    return tmp_path / "image.npz"


def test_a_program_of_others_on_an_image(image: Path, tmp_path: Path):
    answer = run_binary(GENESYS / "conv_bias_relu1_binary.txt", MACHINE, image, [OUT], tmp_path / "o", "", True)
    assert answer["format"] == "bits"
    assert (np.load(answer["outputs"])["y"].reshape(-1) == numbers("out")).all()
    after = Path(answer["image"]).read_bytes()
    assert np.frombuffer(after, np.int32, 12 * 12 * 64, 0x400000).tolist() == numbers("out").tolist()
    assert after[0x410000:0x410040] == numbers("data").astype(np.int8).tobytes()[:64]
    assert Path(answer["trace"]).is_file()


def test_an_image_of_bytes_runs_on(image: Path, tmp_path: Path):
    """The image after a run is an image to run on: the same outputs."""
    program = GENESYS / "conv_bias_relu1_binary.txt"
    first = run_binary(program, MACHINE, image, [], tmp_path / "o", "bits", False)
    again = run_binary(program, MACHINE, Path(first["image"]), [OUT], tmp_path / "p", "", False)
    assert (np.load(again["outputs"])["y"].reshape(-1) == numbers("out")).all()


def test_queues_run_on_images(tmp_path: Path):
    """Eight bytes are loaded from 16 and stored at 64."""
    text, code, image = tmp_path / "copy.s", tmp_path / "copy.hex", tmp_path / "image.bin"
    text.write_text(
        "LOAD TAG=1, DST=0, SRC=16, RUN=8, NB=1, NC=1\nSTORE DST=64, SRC=0, RUN=8, NB=1, NC=1, WT0=1, WC0=1\n"
    )
    assert main(["assemble", str(text), "--target", "tiny", "-o", str(code), "--format", "hex"]) == 0
    image.write_bytes(bytes(range(32)))
    arguments = ["--target", "tiny", "--image", str(image), "--read", "z=64:uint8:2x4", "-o", str(tmp_path / "o")]
    assert main(["run", "--binary", str(code), *arguments]) == 0
    assert np.load(tmp_path / "o/outputs.npz")["z"].tolist() == [[16, 17, 18, 19], [20, 21, 22, 23]]
    assert main(["disassemble", str(code), "--target", "tiny", "-o", str(tmp_path / "again.s")]) == 0
    assert (tmp_path / "again.s").read_text().startswith("LOAD TAG=1, SRC=0x10, RUN=8")


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (["y"], "expected NAME=ADDRESS:TYPE:SHAPE such as y=0x400:int32:12x64, found `y`"),
        (["y=0:object:4"], "found `y=0:object:4`"),
        (["y=0:int8:" + "9" * 300], "expected NAME=ADDRESS"),
        (["y=32000000000:int8:1"], "y: expected bytes in 0 to 32000000000 of DRAM"),
        (["y=0:int8:1", "y=8:int8:1"], "different names of ranges and pieces of the image, found `y`"),
        (["24576=0:int8:1"], "different names of ranges and pieces of the image, found `24576`"),
    ],
)
def test_ranges_that_cannot_be(ranges: list[str], message: str, image: Path, tmp_path: Path):
    with pytest.raises(TilewrightError) as error:
        run_binary(GENESYS / "conv_bias_relu1_binary.txt", MACHINE, image, ranges, tmp_path, "", False)
    assert message in str(error.value)


def bomb(path: Path) -> None:
    """A small file whose array is said to be of a terabyte."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 40,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0.npy", header.getvalue())
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = b"\xff\xff\xff\xff"
    path.write_bytes(data)


def test_images_that_cannot_be(tmp_path: Path):
    path = tmp_path / "image.npz"
    memory = offchip(load_target("tiny"))
    write_arrays(path, {"x": np.zeros(4)})
    with pytest.raises(TilewrightError, match="named by addresses, as x@0x100, found `x` of float64"):
        image_pieces(path, memory)
    bomb(path)
    with pytest.raises(TilewrightError, match="at most 65536 bytes of DRAM's bytes, found more in its arrays"):
        image_pieces(path, memory)
    with pytest.raises(TilewrightError, match="at most 65536 bytes of DRAM's bytes, found more"):
        image_pieces(Path("/dev/zero"), memory)


def test_pieces_lie_apart(tmp_path: Path):
    write_arrays(tmp_path / "image.npz", {"a@0": np.zeros(8, np.int8), "b@4": np.zeros(8, np.int8)})
    (tmp_path / "p.s").write_text("")
    assemble_file(tmp_path / "p.s", load_target("tiny"), tmp_path / "p.bin", "binary")
    with pytest.raises(TilewrightError, match="inputs and weights apart from each other in DRAM"):
        run_binary(tmp_path / "p.bin", load_target("tiny"), tmp_path / "image.npz", [], tmp_path, "", False)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("hvx", "a target with instruction words, found packets; .*llvm-mc"),
        ("conventional", "a target with instructions"),
    ],
)
def test_targets_without_words(target: str, message: str):
    with pytest.raises(TilewrightError, match=message):
        read_binary(GENESYS / "conv_bias_relu1_binary.txt", load_target(target))


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["run"], 2, "expected MODEL or --binary FILE, found neither"),
        (["run", "--binary", "p"], 2, "--image FILE"),
        (["run", "m.onnx", "--binary", "p", "--image", "i"], 2, "MODEL or --binary FILE, found both"),
        (["run", "m.onnx", "--read", "y=0:int8:1"], 2, "no such option without --binary"),
        (["run", "--binary", "p", "--image", "i", "--target", "tiny"], 1, "p: expected a file with a program"),
        (
            ["disassemble", "p", "--target", "tiny", "--format", "octal"],
            2,
            "one of binary, bits, hex, decimal, found `octal`",
        ),
        (["disassemble", ".", "--target", "tiny"], 1, ".: expected a file with a program, found Is a directory"),
        (["assemble", "nowhere.s", "--target", "tiny"], 1, "nowhere.s: expected a file with assembly text"),
    ],
)
def test_usage(
    arguments: list[str],
    status: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == status
    assert message in capsys.readouterr().err
