# SPDX-License-Identifier: MIT
"""Makes the navigation once for each folder of pages, and marks on each page where it is.

The theme asks Sphinx for the whole tree anew on every page, which was two fifths of a build.
"""

import posixpath
import re
from typing import Any

__all__ = ["marked", "setup"]

_TAG = re.compile(r'<(?P<kind>ul|li)(?: class="(?P<classes>[^"]*))?|</(?:ul|li)>')
_BOX = re.compile(r'<input(?= [^>]*class="toctree-checkbox")')


def marked(tree: str, page: str) -> str:
    """Return the navigation `tree` of a folder with the page at the link `page` as the current."""
    link = f'<a class="reference internal" href="{page}"'
    place = tree.find(link)
    if place < 0:
        return tree
    around: list[re.Match[str]] = []
    for tag in _TAG.finditer(tree, 0, place):
        if tag["kind"]:
            around.append(tag)
        else:
            around.pop()
    parts = [tree[place + len(link) :], '<a class="current reference internal" href="#"']
    end = place
    for tag in reversed(around):
        parts += [_opened(tree[tag.end() : end], tag), _current(tag, tag is around[-1])]
        end = tag.start()
    return tree[:end] + "".join(reversed(parts))


def _opened(text: str, tag: re.Match[str]) -> str:
    """Return the `text` behind a tag with the box checked that shows what is below it."""
    is_box = "has-children" in (tag["classes"] or "")
    return _BOX.sub('<input checked=""', text, count=1) if is_box else text


def _current(tag: re.Match[str], is_page: bool) -> str:
    if tag["kind"] == "ul":
        return '<ul class="current"'
    depth, *rest = tag["classes"].split()
    return f'<li class="{" ".join([depth, "current", *rest, *["current-page"][:is_page]])}'


def _of_folder(app: Any, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Give the theme the tree as a page of this folder has it that no tree names."""
    whole = app.builder._get_local_toctree
    folder = posixpath.dirname(page)
    kept: dict[str, str] = app.kept_navigation

    def toctree(**options: Any) -> str:
        if folder not in kept:
            kept[folder] = whole(posixpath.join(folder, "-"), **options)
        return kept[folder]

    context["toctree"] = toctree


def _of_page(_app: Any, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    if "furo_navigation_tree" in context:
        name = posixpath.basename(page) + ".html"
        context["furo_navigation_tree"] = marked(context["furo_navigation_tree"], name)


def setup(app: Any) -> dict[str, bool]:
    """Stand before the theme, which makes the navigation, and behind it."""
    app.kept_navigation = {}
    app.connect("html-page-context", _of_folder, priority=100)
    app.connect("html-page-context", _of_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
