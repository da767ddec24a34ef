# SPDX-License-Identifier: MIT
"""Every relative link of every Markdown file leads to a file, and to a heading of it."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(
    r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|^\[[^\]]+\]: (\S+)|(?:href|src)=\"([^\"]+)\"", re.M
)


def pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for path in listed.stdout.split() if (ROOT / path).is_file()]


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that GitHub makes of headings, and those that are written."""
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    found: list[str] = re.findall(r"(?:id|name)=\"([^\"]+)\"", text)
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        again = sum(1 for each in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", each))
        found.append(f"{slug}-{again}" if slug in found else slug)
    return frozenset(found)


def dead_links(page: Path) -> list[str]:
    dead = list[str]()
    for match in _LINK.finditer(_CODE.sub("", page.read_text())):
        link = next(filter(None, match.groups()))
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", pages())
def test_the_links_of_a_page_lead_somewhere(page: str) -> None:
    assert dead_links(ROOT / page) == []


def test_a_dead_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A *b*\n[x](#a-b) [y](#a-c) [z](no.md) `[w](code.md)` [v](page.md#a-b)\n")
    assert dead_links(page) == ["#a-c", "no.md"]
