# SPDX-License-Identifier: MIT
"""The pages of the site in one tree: those of docs/, and the guides of packages.

A guide of a package is in packages/NAME/docs/, and its place on the site is guide/. Links are
relative to where a page is written, so they are rewritten for its place on the site.
"""

import os
import re
import shutil
from pathlib import Path

from docs.site import ROOT

__all__ = ["assemble", "guide", "places", "relink"]

_LINK = re.compile(
    r"(?P<before>\]\(<?|(?:href|src)=\"|^\[[^\]]+\]: )(?![a-z]+:)(?P<path>[^)\s>#\":]+)", re.M
)
_FENCE = re.compile(r"^(```(?!\{).*?^```$)", re.M | re.S)
_INTEGRATIONS = {"training-environments.md"}
"""Guides that are listed below the guide on other libraries."""


def places() -> dict[Path, Path]:
    """Return the place in docs/ of each page of a package, by where it is written."""
    guides = ROOT / "docs" / "guide"
    return {
        page: guides / ("integrations" if page.name in _INTEGRATIONS else "") / page.name
        for page in sorted(ROOT.glob("packages/*/docs/*.md"))
    }


def guide(name: str, page: str) -> str:
    """Return the link to the guide `name` on `page`, a path below docs/.

    >>> guide("hunt", "reference/llvm-missed.md")
    '../../packages/hunt/docs/hunt.md'
    """
    place = ROOT / "docs" / "guide" / f"{name}.md"
    written = next((old for old, new in places().items() if new == place), place)
    return os.path.relpath(written, (ROOT / "docs" / page).parent)


def relink(text: str, old: Path, new: Path, moved: dict[Path, Path]) -> str:
    """Return the Markdown `text` of the page `old` with its links as they are at `new`."""

    def change(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(old.parent / match["path"]))
        if old == new and target not in moved:
            return match[0]
        return match["before"] + os.path.relpath(moved.get(target, target), new.parent)

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(change, part) for part in parts)


def assemble(folder: Path) -> Path:
    """Write the sources of the site below `folder`, and return the folder of its pages."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
        elif path.name not in ("docs", "build") and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)  # links to files of the repository lead there
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    moved = places()
    own = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]  # a page includes the changelog
    written = {path: path for path in sorted(own)}
    for old, new in {**written, **moved}.items():
        text = relink(old.read_text(encoding="utf-8"), old, new, moved)
        copy = folder / new.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    return folder / "docs"
