# SPDX-License-Identifier: MIT
"""The site builds without a warning, is complete, and its helpers see what is wrong."""

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.core import CompilerEnv
from compiler_gym.search import Budget
from compiler_gym.wrappers import TimeLimit
from docs.browser import CHROMIUM, start_browser
from docs.site import release
from docs.site.__main__ import publish
from docs.site.api_pages import doors, names, signature_of, undocumented
from docs.site.links import broken
from docs.site.markdown_copies import copy_of
from docs.site.navigation import marked
from docs.site.repository_links import offer
from docs.site.widths import DESKTOP, PHONE, find_wide_pages
from tests.once import made_once

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(900)  # of which a build takes one minute of processor time


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the whole site, once in a run: warnings and links that lead nowhere fail."""
    return made_once(tmp_path_factory, "site", build) / release()


def build(folder: Path) -> None:
    """Build the site into `folder`."""
    command = [sys.executable, "-m", "docs.site", "--folder", str(folder), "--jobs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.docs
def test_every_public_name_is_in_the_reference(site: Path) -> None:
    missing: list[str] = []
    for module, path in doors():
        page = (site / "api" / f"{module}.html").read_text(encoding="utf-8")
        missing += [f"{module}.{name}" for name in names(path) if f">{name}<" not in page]
    assert missing == []
    assert len(list(doors())) > 40


def test_every_door_is_importable_and_tells_its_names() -> None:
    for module, path in doors():
        if "integrations" not in module:  # of which some want libraries of gigabytes
            assert sorted(importlib.import_module(module).__all__) == sorted(names(path)), module


def test_every_public_name_and_method_says_what_it_is() -> None:
    silent = [
        one
        for module, path in doors()
        if "integrations" not in module
        for one in undocumented(module, path)
        if not one.endswith("__version__")
    ]
    assert silent == []


def test_an_environment_shows_the_arguments_of_its_constructor() -> None:
    shown = signature_of(CompilerEnv)
    assert shown is not None
    shown = re.sub(r"~[\w.]+\.(?=\w)", "", shown)  # which Sphinx shortens and links
    assert shown.startswith("(source: SessionSource, *, benchmark: str | Benchmark | None = None")
    shown = signature_of(TimeLimit)
    assert shown is not None
    assert "max_episode_steps" in shown
    assert signature_of(Budget) is None  # whose constructor nothing hides


@pytest.mark.docs
def test_the_search_finds_what_is_there(site: Path) -> None:
    data = (site / "search_data.js").read_text(encoding="utf-8")
    pages = json.loads(data.removeprefix("const SEARCH = ").removesuffix(";\n"))["pages"]
    assert [name for name in pages if not (site / f"{name}.html").is_file()] == []
    assert (site / "decisions" / "index.html").is_file()
    assert (site / "search.html").is_file()
    assert "api/compiler_gym.search" in pages
    navigation = (site / "index.html").read_text(encoding="utf-8")
    ours, _, theirs = navigation.partition("For contributors")
    assert ("api/index.html" in ours, "api/inside.html" in theirs) == (True, True)
    assert 'href="api/compiler_gym.lazy.html"' not in ours


@pytest.mark.docs
def test_every_page_has_a_copy_for_programs(site: Path) -> None:
    own = {"genindex", "py-modindex", "search"}
    pages = [page for page in site.rglob("*.html") if page.stem not in own]
    assert [page for page in pages if not page.with_suffix(".md").is_file()] == []
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert listed.startswith("# compiler_gym")
    for page in pages:
        name = page.relative_to(site).with_suffix(".md").as_posix()
        assert f"({name})" in listed
        assert f"<!-- {name} -->" in whole
    copy = (site / "api" / "compiler_gym.wrappers.md").read_text(encoding="utf-8")
    assert "A wrapper that truncates an episode after a number of actions." in copy


@pytest.mark.docs
def test_the_navigation_shows_the_way_to_the_page(site: Path) -> None:
    page = (site / "guide" / "tune.html").read_text(encoding="utf-8")
    assert page.count("current-page") == 1
    assert '<li class="toctree-l1 current current-page"><a class="current reference' in page
    box = '<input class="toctree-checkbox" id="1"/>'
    way = f'<li class="toctree-l1 has-children"><a>Up</a>{box}<ul>\n<li class="toctree-l2">'
    tree = f'<ul>\n{way}<a class="reference internal" href="a.html">A</a></li></ul></li></ul>'
    assert marked(tree, "b.html") == tree
    assert marked(tree, "a.html") == (
        '<ul class="current">\n<li class="toctree-l1 current has-children"><a>Up</a>'
        '<input checked="" class="toctree-checkbox" id="1"/><ul class="current">\n'
        '<li class="toctree-l2 current current-page">'
        '<a class="current reference internal" href="#">A</a></li></ul></li></ul>'
    )


_WANTS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None,
    reason="chromium or playwright is missing",
)


@pytest.mark.docs
@_WANTS_CHROMIUM
def test_no_page_scrolls_sideways_on_a_phone_or_a_desktop(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    with start_browser() as browser:
        wide = [*find_wide_pages(pages, PHONE, browser)]
        wide += find_wide_pages(pages[::8], DESKTOP, browser)
    assert wide == []


@pytest.mark.docs
@_WANTS_CHROMIUM
def test_a_page_that_scrolls_sideways_is_named_with_its_widest_element(tmp_path: Path) -> None:
    wide = "<code style='white-space: nowrap'>" + "wide " * 99 + "</code>"
    bodies = {
        "a.html": f"<p>short</p><p class='culprit'>{wide}</p>",
        "b.html": f"<div style='overflow-x: auto'>{wide}</div>",
        "c.html": "<script>undefined_name</script>",
    }
    frame = "<style>html { overflow-x: hidden } .content { overflow-x: auto }</style>"
    for name, body in bodies.items():
        text = f"<!doctype html>{frame}<body><div class='content'>{body}</div>"
        (tmp_path / name).write_text(text, encoding="utf-8")
    pages = sorted(tmp_path.glob("*.html"))
    with start_browser() as browser:
        for width in PHONE, DESKTOP:
            sideways, broken_script = find_wide_pages(pages, width, browser)
            assert sideways.startswith(f"{pages[0]}: at {width} px: <code> 'wide wide")
            assert broken_script.startswith(f"{pages[2]}: undefined_name is not defined")


def test_the_newest_settled_release_is_the_front_door(tmp_path: Path) -> None:
    for name in ("1.0.0", "1.10.0", "1.9.0", "2.0.0.dev0", "notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("")
    assert publish(tmp_path) == ["2.0.0.dev0", "1.10.0", "1.9.0", "1.0.0"]
    assert json.loads((tmp_path / "versions.json").read_text())[0] == "2.0.0.dev0"
    assert "url=1.10.0/index.html" in (tmp_path / "index.html").read_text()


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"><a href="b.html"></a><a href="b.html#here"></a><a href="b.html#gone"></a>'
        '<a href="#top"></a><a href="none.html"></a><img src="x.png"><a href="https://x.org"></a>'
    )
    (tmp_path / "b.html").write_text('<p id="here">')
    assert list(broken(tmp_path)) == [
        "a.html: b.html#gone: no such heading",
        "a.html: none.html: no such file",
        "a.html: x.png: no such file",
    ]


def test_copies_leave_out_what_only_sphinx_reads() -> None:
    page = "# T\n\n```{toctree}\n:hidden:\n\na\n```\n\n{download}`x <y.md>`\n\n```python\n1\n```\n"
    assert copy_of(page) == "# T\n\n[x](y.md)\n\n```python\n1\n```\n"


def test_only_markdown_outside_the_pages_is_offered_as_a_file(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    (pages / "guide").mkdir(parents=True)
    (tmp_path / "A.md").write_text("")
    (pages / "B.md").write_text("")
    text = "[a](../../A.md) [b](../B.md) [c](../../C.md)\n```\n[a](../../A.md)\n```\n"
    assert offer(text, pages / "guide" / "p.md", pages) == text.replace(
        "[a](../../A.md)", "{download}`a <../../A.md>`", 1
    )


def test_a_link_whose_text_is_code_is_offered_too(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    (tmp_path / "A.md").write_text("")
    assert offer("[`a`](../A.md)", pages / "p.md", pages) == "{download}`a <../A.md>`"
