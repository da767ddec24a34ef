# SPDX-License-Identifier: MIT
"""A page of docs/tutorials/ for every tutorial, from the notebook that its run has left.

Code, what it printed and its pictures; the notebook itself can be downloaded.
"""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.tutorials import FOLDER, NAMES, results
from scripts.release.package_page import repository

__all__ = ["page", "setup", "to_pages", "write"]

_NOTEBOOK = re.compile(r"\]\(((?:[\w./]*tutorials/)?)results/(\w+)\.ipynb\)")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


def write() -> None:
    """Write pages and pictures, and leave alone those that are what they should be."""
    for name in NAMES:
        text, pictures = page(name)
        _keep(FOLDER / f"{name}.md", text.encode())
        for file, content in pictures.items():
            _keep(FOLDER / "results" / file, content)


def page(name: str) -> tuple[str, dict[str, bytes]]:
    """Return the Markdown of a tutorial and its pictures by file name."""
    notebook = json.loads(results(name).read_text(encoding="utf-8"))
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source and not source.startswith(("# SPDX", "%pip")):
            parts.append(f"```python\n{source}\n```")
            parts += _shown(name, cell["outputs"], pictures)
    address = repository()
    place = address.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{place}/blob/main/docs/tutorials/results"
    offer = (
        f"Download it: {{download}}`notebook <results/{name}.ipynb>`, "
        f"{{download}}`Python <{name}.py>`."
        + (f" Or [run it in Colab]({colab}/{name}.ipynb)." if place != address else "")
    )
    title, _, rest = "\n\n".join(parts).partition("\n\n")
    if not title.startswith("# "):
        title, rest = (part.strip() for part in f"{title}\n\n{rest}".split("\n", 1))
    return f"{title}\n\n{offer}\n\n{rest}\n", pictures


def _shown(name: str, outputs: list[Any], pictures: dict[str, bytes]) -> Iterator[str]:
    for output in _joined(outputs):
        data = output.get("data", {})
        if "image/png" in data:
            file = f"{name}-{len(pictures) + 1}.png"
            pictures[file] = base64.b64decode("".join(data["image/png"]))
            yield f"![What the code above draws](results/{file})"
            continue
        said = "".join(output.get("text", "") or data.get("text/plain", ""))
        if said.strip():
            yield f"```text\n{_COLORS.sub('', said).rstrip()}\n```"


def _joined(outputs: list[Any]) -> list[Any]:
    """Return the outputs of a cell; what was printed in pieces is one."""
    kept: list[Any] = []
    for output in outputs:
        before: dict[str, Any] = kept[-1] if kept else {}
        if output["output_type"] == "stream" and before.get("name") == output["name"]:
            kept[-1] = {**before, "text": [*before["text"], *output["text"]]}
        else:
            kept.append(output)
    return kept


def to_pages(text: str) -> str:
    """Return the text of a page with links to notebooks, as the repository has them, to pages."""
    return _NOTEBOOK.sub(r"](\1\2.md)", text)


def _read(app: Any, docname: str, source: list[str]) -> None:
    source[0] = to_pages(source[0])


def _keep(path: Path, content: bytes) -> None:
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


def _write(_: Any) -> None:
    write()


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", _write)
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
