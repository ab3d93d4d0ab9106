"""YAML text."""

from __future__ import annotations

from typing import Any

import yaml

Document = dict[str, Any]


def dump(document: Document) -> str:
    """YAML with lists and mappings of scalars on one line, keys in their order."""
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=118)
