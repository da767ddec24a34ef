# SPDX-License-Identifier: MIT
"""Joins the sentences of ``changelog.d/`` into ``CHANGELOG.md``, the newest release first."""

import time
from pathlib import Path

__all__ = ["HEAD", "Fragment", "fragments", "release", "section"]

Fragment = tuple[str, str]
"""The kind of a change and its sentence."""

HEAD = "# Changelog\n\nWhat users see, release by release.\n"
_KINDS = ("added", "changed", "fixed", "removed")


def fragments(folder: Path) -> list[Fragment]:
    """Return what the files of `folder` say, by kind and name; `ValueError` for one that is not so.

    A file is ``WHAT.KIND.md`` and holds one sentence in one line.
    """
    found: list[tuple[int, str, Fragment]] = []
    for path in folder.glob("*"):
        if path.name == "README.md":
            continue
        what, _, kind = path.name.removesuffix(".md").rpartition(".")
        if not what or kind not in _KINDS or path.suffix != ".md":
            raise ValueError(f"{path}: expected WHAT.KIND.md, KIND one of {', '.join(_KINDS)}")
        sentence = path.read_text(encoding="utf-8").strip()
        if "\n" in sentence or not sentence.endswith("."):
            raise ValueError(f"{path}: expected one sentence in one line, found {sentence!r}")
        found.append((_KINDS.index(kind), what, (kind, sentence)))
    return [fragment for _, _, fragment in sorted(found)]


def section(version: str, date: str, changes: list[Fragment]) -> str:
    """Return the part of the changelog that describes one release."""
    lines = [f"## {version} ({date})", ""]
    for kind in _KINDS:
        sentences = [f"- {sentence}" for one, sentence in changes if one == kind]
        if sentences:
            lines += [f"### {kind.capitalize()}", "", *sentences, ""]
    return "\n".join(lines)


def release(root: Path, version: str, date: str = "") -> str:
    """Write the fragments below `root` into its changelog, delete them, and return the new part.

    Raises `ValueError` if there are none or the changelog has this version already.
    """
    folder, page = root / "changelog.d", root / "CHANGELOG.md"
    changes = fragments(folder)
    old = page.read_text(encoding="utf-8") if page.exists() else HEAD
    if not changes:
        raise ValueError(f"{folder} has no sentence for {version}")
    if f"## {version} (" in old:
        raise ValueError(f"{page} has {version} already: raise the version in version.py")
    new = section(version, date or time.strftime("%Y-%m-%d"), changes)
    page.write_text(f"{HEAD}\n{new}{old.removeprefix(HEAD)}", encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name != "README.md":
            path.unlink()
    return new
