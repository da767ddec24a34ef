# SPDX-License-Identifier: MIT
"""What a package index shows of a wheel: README.md with links that work there, and addresses.

scikit-build-core asks for it when a wheel is built. The address of the repository stands in
pyproject.toml, under ``tool.compiler-gym``, and nowhere else. A relative link leads there; as long
as there is none, a link is its text and a picture is left out: neither could be followed.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["addresses", "dynamic_metadata", "repository", "with_absolute_links"]

ROOT = Path(__file__).parents[2]
_LINK = re.compile(
    r"(?P<is_image>!?)\[(?P<text>(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\((?P<to>[^)\s]+)\)"
)
_FENCE = re.compile(r"^(```.*?^```$)", re.M | re.S)
_ELSEWHERE = re.compile(r"\w+:|#")


def repository(root: Path = ROOT) -> str:
    """Return the address of the repository; empty where none is known yet."""
    tools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return str(tools["compiler-gym"]["repository"]).rstrip("/")


def with_absolute_links(text: str, address: str) -> str:
    """Return Markdown whose relative links lead to `address`, or are their text without one."""

    def changed(found: re.Match[str]) -> str:
        inside = _LINK.sub(changed, found["text"])
        if _ELSEWHERE.match(found["to"]):
            return f"{found['is_image']}[{inside}]({found['to']})"
        if not address:
            return "" if found["is_image"] else inside
        kind = "raw" if found["is_image"] else "blob"
        return f"{found['is_image']}[{inside}]({address}/{kind}/main/{found['to']})"

    parts = _FENCE.split(text)
    linked = "".join(one if one.startswith("```") else _LINK.sub(changed, one) for one in parts)
    return re.sub(r"\n{3,}", "\n\n", linked)


def addresses(address: str) -> dict[str, str]:
    """Return the addresses that an index shows beside the page."""
    if not address:
        return {}
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/main/docs/index.md",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def dynamic_metadata(
    field: str, settings: Mapping[str, Any], project: Mapping[str, Any]
) -> dict[str, str]:
    """Return a field of the metadata, as scikit-build-core asks for it."""
    address = repository()
    if field == "urls":
        return addresses(address)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return {"content-type": "text/markdown", "text": with_absolute_links(text, address)}
