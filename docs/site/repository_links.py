# SPDX-License-Identifier: MIT
"""Links of a page to files of the repository that are no pages: the site offers the file.

A Markdown file outside docs/ would be looked for among the pages, so it is made a download.
"""

import re
from pathlib import Path
from typing import Any

__all__ = ["offer", "setup"]

_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<path>(?:\.\./)+[^)#\s]+\.md)\)")
_FENCE = re.compile(r"^(```.*?^```$)", re.M | re.S)


def offer(text: str, page: Path, pages: Path) -> str:
    """Return the `text` of `page` with links to Markdown outside `pages` made downloads."""

    def changed(found: re.Match[str]) -> str:
        target = (page.parent / found["path"]).resolve()
        if target.is_relative_to(pages.resolve()) or not target.is_file():
            return found[0]
        text = found["text"].replace("`", "")  # or the name of a file would end the role
        return f"{{download}}`{text} <{found['path']}>`"

    parts = _FENCE.split(text)
    return "".join(one if one.startswith("```") else _LINK.sub(changed, one) for one in parts)


def _read(app: Any, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        source[0] = offer(source[0], page, Path(app.srcdir))


def setup(app: Any) -> dict[str, bool]:
    """Change pages as they are read."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
