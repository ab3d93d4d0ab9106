"""`tilewright diff` of folders and of answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli import main
from tilewright.frontends.acg import load_target, print_target
from tilewright.machine.changes import scaled

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=100 n=40 k=60"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A kernel on a machine, and on one with twice the bandwidth off chip."""
    place = tmp_path_factory.mktemp("diff")
    target = place / "fast.acg"
    target.write_text(print_target(scaled(load_target("edge16"), "DRAM.bandwidth", 2)))
    for name, machine in (("a", "edge16"), ("b", str(target))):
        assert main(["compile", KERNEL, "--target", machine, "-o", str(place / name), "--json"]) == 0
    return str(place / "a"), str(place / "b")


def test_more_bandwidth(folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "diff.html"
    assert main(["diff", *folders, "--html", str(page), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {change["key"]: (change["a"], change["b"]) for change in answer["target"]} == {
        "DRAM->GBUF.bandwidth": (16, 32)
    }
    first = answer["changed"][0]
    assert (first["layer"], first["key"]) == ("kernel", "cycles")
    assert first["b"] < first["a"]
    text = page.read_text()
    assert json.loads(text.split('id="answer">')[1].split("</script>")[0])["changed"] == answer["changed"]


def test_answers_of_runs(folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    files: list[str] = []
    for folder in folders:
        assert main(["run", folder, "-o", str(tmp_path / "out"), "--json"]) == 0
        files.append(str(tmp_path / f"{len(files)}.json"))
        Path(files[-1]).write_text(capsys.readouterr().out)
    assert main(["diff", *files]) == 0
    assert "kernel" in capsys.readouterr().out
    assert main(["diff", files[0], files[0]]) == 0
    assert "The layers are the same." in capsys.readouterr().out


def test_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Partitions by group, schedules by their totals, mappings by memory; both ways of searching, each with itself."""

    def found(*words: str) -> str:
        assert main([*words, "--json"]) == 0
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text(capsys.readouterr().out)
        return str(path)

    def differ(a: str, b: str) -> dict[str, Any]:
        assert main(["diff", a, b, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    single, ours = (found("partition", "vgg16", "--method", method) for method in ("per-layer", "ours"))
    answer = differ(single, ours)
    a, b = (json.loads(Path(file).read_text()) for file in (single, ours))
    assert {"key": "dram_bytes", "a": a["ema_bytes"], "b": b["ema_bytes"]} in answer["totals"]
    group = next(group for group in b["groups"] if len(group["layers"]) > 1)
    moved = group["weight_bytes"] + group["input_bytes"] + group["output_bytes"]
    name = f"{group['layers'][0]} .. {group['layers'][-1]} ({len(group['layers'])})"
    (change,) = [one for one in answer["changed"] if (one["layer"], one["key"]) == (name, "dram_bytes")]
    assert (change["a"], change["b"]) == (None, moved)
    assert differ(ours, ours)["changed"] == []
    schedule = found("schedule", "gpt2_small_decode", "--rounds", "20")
    totals = {one["key"]: one["a"] for one in differ(schedule, schedule)["totals"]}
    assert totals["tiles"] == json.loads(Path(schedule).read_text())["tiles"]
    kernels = [
        found("map", KERNEL.replace("100", m), "--target", "edge16", "--mapper", "sunstone") for m in ("100", "50")
    ]
    loops = {one["layer"] for one in differ(*kernels)["changed"]}
    assert {"DRAM, A", "DRAM, O"} <= loops
    assert differ(kernels[0], kernels[0])["changed"] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"mapping": 3}',
        '{"latency_cycles": 3, "groups": [[]]}',
        "{",
        "[]",
        '{"layers": 3}',
        '{"layers": [{"name": "a"}]}',
    ],
)
def test_other_files_are_refused(
    text: str, folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    other = tmp_path / "other.json"
    other.write_text(text)
    assert main(["diff", folders[0], str(other), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "parse"
