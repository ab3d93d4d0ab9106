"""Front end for programs of `torch.export`, which torch's exporter turns into ONNX."""

from .exported import ExportedProgram, import_exported, refuse_archive

__all__ = ["ExportedProgram", "import_exported", "refuse_archive"]
