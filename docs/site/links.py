# SPDX-License-Identifier: MIT
"""Every link of the built site that leads into the site, looked up in its files: no network."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken"]


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(value for key in ("id", "name") if (value := given.get(key)))
        link = given.get("src") if tag in {"img", "script", "source", "video"} else None
        self.links += [one for one in (link, given.get("href")) if one]


def broken(folder: Path) -> Iterator[str]:
    """Yield a line for every link of the HTML pages below `folder` that leads nowhere."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, page in sorted(pages.items()):
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            said = f"{path.relative_to(folder)}: {link}"
            if not target.is_file():
                yield f"{said}: no such file"
            elif target in pages and unquote(parts.fragment) not in {*pages[target].anchors, ""}:
                yield f"{said}: no such heading"
