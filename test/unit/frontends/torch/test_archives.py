"""`.pt2` files are refused with the reason, whether torch is installed or not."""

from pathlib import Path

import pytest

from tilewright.cli import main


@pytest.mark.parametrize("command", ["compile", "run", "partition", "schedule"])
def test_refused(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "net.pt2"
    path.write_bytes(b"PK\x03\x04")
    assert main([command, str(path)]) == 1
    told = capsys.readouterr().err
    assert "unpickles" in told
    assert "torch.onnx.export" in told


def test_no_such_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", str(tmp_path / "net.pt2")]) == 1
    assert "no such file" in capsys.readouterr().err
