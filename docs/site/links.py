# SPDX-License-Identifier: MIT
"""Every link of the built site that leads into the site, looked up in its files: no network."""

import html
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken"]

_TAG = re.compile(r"<(?P<name>[a-zA-Z][\w-]*)\s(?P<attributes>[^>]*)>")
_ATTRIBUTE = re.compile(r'(?P<name>href|src|id|name)="(?P<value>[^"]+)"')
_SHOWN = {"img", "script", "source", "video"}


class _Page:
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        self.links: dict[str, None] = {}
        self.anchors: set[str] = {""}
        for tag in _TAG.finditer(text):
            for name, value in _ATTRIBUTE.findall(tag["attributes"]):
                value = html.unescape(value)
                if name in {"id", "name"}:
                    self.anchors.add(value)
                elif name == "href" or tag["name"] in _SHOWN:
                    self.links[value] = None


def broken(folder: Path) -> Iterator[str]:
    """Yield a line for every link of the HTML pages below `folder` that leads nowhere."""
    pages = {str(path): _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    files = {str(path) for path in folder.rglob("*") if path.is_file()}
    for path, page in sorted(pages.items()):
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path)))
            if not parts.path:
                target = path
            elif target not in files:
                target = os.path.join(target, "index.html")
            said = f"{os.path.relpath(path, folder)}: {link}"
            if target not in files:
                yield f"{said}: no such file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{said}: no such heading"
