# SPDX-License-Identifier: MIT
"""For readers that are programs: each page as Markdown, `llms.txt`, `llms-full.txt`.

A page that is written in Markdown is copied without the lines that only Sphinx reads. The pages of
the API are made from docstrings, so theirs is the text that Sphinx writes.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.writers.text import TextTranslator

__all__ = ["copy_of", "setup"]

_DIRECTIVE = re.compile(r"^(?P<mark>```+|:::+)\{(?P<name>[\w-]+)\}.*?^(?P=mark)$\n?", re.M | re.S)
_TARGET = re.compile(r"^\([\w-]+\)=\n", re.M)
_DOWNLOAD = re.compile(r"\{download\}`([^<`]+) <([^>]+)>`")
_SUMMARY = (
    "> Reinforcement learning environments for compiler optimisation: LLVM 22 and GCC behind "
    "Gymnasium's `reset()` and `step()`."
)


def copy_of(text: str) -> str:
    """Return the Markdown of a page without what only Sphinx reads."""
    text = _TARGET.sub("", _DIRECTIVE.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", _DOWNLOAD.sub(r"[\1](\2)", text)).strip() + "\n"


def _text(app: Any, docname: str) -> str:
    source = Path(app.env.doc2path(docname))
    if source.suffix == ".md":
        return copy_of(source.read_text(encoding="utf-8"))
    tree = app.env.get_doctree(docname)
    writer = TextTranslator(tree, app.builder)
    tree.walkabout(writer)
    return writer.body


def _in_order(app: Any) -> list[str]:
    """Return the pages as the navigation has them, then those it has not."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in order or name not in app.env.all_docs:
            return
        order.append(name)
        for one in app.env.toctree_includes.get(name, []):
            visit(one)

    visit(app.config.root_doc)
    return order + sorted(set(app.env.all_docs) - set(order))


def _write(app: Any, failure: Exception | None) -> None:
    if failure is not None or app.builder.format != "html":
        return
    names = _in_order(app)
    folder = Path(app.outdir)
    listed = [f"# {app.config.project} {app.config.version}", "", _SUMMARY, ""]
    whole: list[str] = []
    for name in names:
        text = _text(app, name)
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        listed.append(f"- [{app.env.titles[name].astext()}]({name}.md)")
        whole.append(f"<!-- {name}.md -->\n\n{text}")
    (folder / "llms.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")
    (folder / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def _context(app: Any, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Tell the page where its copy is."""
    if page in app.env.all_docs:
        context["markdown_copy"] = page.rsplit("/", 1)[-1] + ".md"


def setup(app: Any) -> dict[str, bool]:
    """Write the copies when the pages are there."""
    app.connect("html-page-context", _context)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
