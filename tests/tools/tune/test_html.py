# SPDX-License-Identifier: MIT
"""A page escapes its values and needs no other file."""

from pathlib import Path

import pytest

from compiler_gym.tools.tune import render_page


def test_a_page_is_whole_and_escapes_its_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own_pages" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "own.html").write_text(
        '{% extends "base.html" %}{% from "macros.html" import table %}'
        '{% block body %}{{ table(["Name", "Bytes"], ["name", "number"], rows) }}{% endblock %}'
    )
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    page = render_page("own.html", "own_pages", title="<b>", rows=[("a<", "1")])
    assert "<title>&lt;b&gt;</title>" in page
    assert "prefers-color-scheme: dark" in page
    assert '<th class="">Name</th><th class="number">Bytes</th>' in page
    assert '<tr><td class="name">a&lt;</td><td class="number">1</td></tr>' in page
    assert "</html>" in page
