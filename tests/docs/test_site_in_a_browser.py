# SPDX-License-Identifier: MIT
"""The built site in a real browser: search, the dark scheme, the switch of versions.

Nothing is loaded from elsewhere, so that the site works from a disk and without a network.
"""

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.browser import CHROMIUM, start_browser
from docs.site import release
from docs.site.__main__ import publish
from tests.stand_ins import stand_in

pytest.importorskip("playwright.sync_api", reason="playwright is missing")
ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing"),
    pytest.mark.timeout(900),
]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build this release, and put two others beside it of which one lacks most pages."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "docs.site", "--folder", str(folder), "--jobs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name, pages in (("0.9.0", ("index", "start")), ("0.8.0", ("index",))):
        (folder / name).mkdir()
        for page in pages:
            shutil.copy(folder / release() / f"{page}.html", folder / name)
    publish(folder)
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with start_browser() as browser:
        yield browser


class _Watched:
    """A page, and what went wrong on it."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", stand_in(lambda error: self.errors.append(str(error))))
        self.page.on("request", stand_in(lambda request: self.requests.append(request.url)))


@pytest.fixture
def watched(browser: Any) -> Iterator[_Watched]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield _Watched(context)


def _search(page: Any, words: str) -> list[str]:
    box = page.get_by_placeholder("Search")
    box.fill(words)
    box.press("Enter")
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_function("document.querySelector('#search-results h2')")
    return page.eval_on_selector_all(
        "#search-results ul.search > li > a", "links => links.map(link => link.textContent)"
    )


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_the_search_finds_pages_and_its_links_lead_there(
    scheme: str, site: Path, address: str, watched: _Watched
) -> None:
    page = watched.page
    page.goto(f"{address if scheme == 'http' else site.as_uri()}/{release()}/start.html")
    titles = _search(page, "miscompile")
    assert any("Validation" in title for title in titles), titles
    page.locator("#search-results a", has_text="Validation").first.click()
    page.wait_for_url("**/guide/validation.html*")
    assert page.locator("h1").first.inner_text().startswith("Validation")
    own = (address, "file://", "data:")
    assert [url for url in watched.requests if not url.startswith(own)] == []
    assert watched.errors == []


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("install", "start.html"),
        ("reward", "concepts.html"),
        ("vectorized environment", "guide/vector.html"),
        ("custom reward", "guide/observations.html"),
        ("fork", "guide/processes.html"),
    ],
)
def test_a_search_begins_with_the_page_for_users(
    words: str, page: str, address: str, watched: _Watched
) -> None:
    watched.page.goto(f"{address}/{release()}/index.html")
    _search(watched.page, words)
    first = watched.page.locator("#search-results li a").first.get_attribute("href") or ""
    assert first.partition("#")[0].partition("?")[0] == page


def test_a_long_table_stays_within_the_window_and_is_filtered(
    address: str, watched: _Watched
) -> None:
    page = watched.page
    page.goto(f"{address}/{release()}/reference/llvm-actions.html")
    page.locator(".long-table").first.wait_for()
    page.locator(".long-table").first.evaluate("box => box.scrollTo(0, 2000)")
    box, head = (page.locator(f".long-table{inner}").first.bounding_box() for inner in ("", " th"))
    assert head["y"] - box["y"] < 3, "the head of the table has scrolled away"
    assert page.evaluate("document.documentElement.scrollHeight") < 30_000
    field = page.get_by_role("searchbox", name=re.compile("Filter")).first
    field.fill("loop unroll")
    rows = page.locator(".long-table").first.locator("tbody tr")
    assert 0 < rows.locator("visible=true").count() < rows.count()


def test_a_name_of_the_api_is_found(address: str, watched: _Watched) -> None:
    watched.page.goto(f"{address}/{release()}/index.html")
    assert any("TimeLimit" in title for title in _search(watched.page, "TimeLimit"))


def test_dark_and_light_can_be_chosen_and_stay(address: str, watched: _Watched) -> None:
    page = watched.page
    page.emulate_media(color_scheme="dark")
    page.goto(f"{address}/{release()}/concepts.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator(".content-icon-container .theme-toggle").click()
    page.wait_for_function("document.body.dataset.theme === 'light'")
    light = page.evaluate(ground)
    assert sum(map(int, _numbers(dark))) < 150 < 600 < sum(map(int, _numbers(light)))
    page.goto(f"{address}/{release()}/start.html")
    assert page.evaluate("document.body.dataset.theme") == "light"


def _numbers(color: str) -> list[str]:
    return color.removeprefix("rgb(").removesuffix(")").split(",")


def test_the_switch_leads_to_the_same_page_of_another_release(
    address: str, watched: _Watched
) -> None:
    page = watched.page
    page.goto(f"{address}/{release()}/start.html")
    choice = page.locator("#versions")
    page.wait_for_function("document.querySelector('#versions').options.length === 3")
    assert choice.input_value() == release()
    choice.select_option("0.9.0")
    page.wait_for_url("**/0.9.0/start.html")
    page.goto(f"{address}/{release()}/guide/tune.html")
    page.wait_for_function("document.querySelector('#versions').options.length === 3")
    page.locator("#versions").select_option("0.8.0")
    page.wait_for_url("**/0.8.0/index.html")  # it has no such page
    assert json.loads(page.request.get(f"{address}/versions.json").text())[0] == release()


def test_notebooks_can_be_downloaded(address: str, watched: _Watched) -> None:
    watched.page.goto(f"{address}/{release()}/tutorials/first_steps.html")
    with watched.page.expect_download() as offered:
        watched.page.get_by_role("link", name="notebook").click()
    notebook = json.loads(Path(offered.value.path()).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4


_COLLISIONS = """
svg => {
  const inner = svg.querySelector('text') ? 2 : 0;
  const card = svg.getBoundingClientRect();
  const segments = [];
  for (const line of svg.querySelectorAll('polyline')) {
    const points = [...line.points].map(p => p.matrixTransform(line.getScreenCTM()));
    for (let i = 1; i < points.length; i++) segments.push([points[i - 1], points[i]]);
  }
  for (const rect of svg.querySelectorAll('rect')) {
    const r = rect.getBoundingClientRect();
    const at = (x, y) => ({x, y});
    const c = [at(r.left, r.top), at(r.right, r.top), at(r.right, r.bottom), at(r.left, r.bottom)];
    for (let i = 0; i < 4; i++) segments.push([c[i], c[(i + 1) % 4]]);
  }
  const found = [];
  const texts = [...svg.querySelectorAll('text')].filter(t => !t.hasAttribute('transform'));
  const boxes = texts.map(t => t.getBoundingClientRect());
  texts.forEach((text, n) => {
    const b = boxes[n];
    const low = {x: b.left + 1, y: b.top + 3}, high = {x: b.right - 1, y: b.bottom - 3};
    if (b.left < card.left + inner || b.right > card.right - inner) found.push(text.textContent);
    for (const [p, q] of segments) {
      const x = [Math.min(p.x, q.x), Math.max(p.x, q.x)];
      const y = [Math.min(p.y, q.y), Math.max(p.y, q.y)];
      const crosses = x[0] < high.x && x[1] > low.x && y[0] < high.y && y[1] > low.y;
      if (crosses) { found.push(text.textContent); break; }
    }
    boxes.forEach((other, m) => {
      const apart = other.left > high.x || other.right < low.x + 2 || other.top + 3 > high.y
        || other.bottom - 3 < low.y;
      if (m > n && !apart) found.push(text.textContent + ' and ' + texts[m].textContent);
    });
  });
  return found;
}
"""
"""The labels of a drawing that touch a line, an edge, each other, or leave the card.

Lines are level or upright, so a line crosses a label where their boxes do.
"""


@pytest.mark.parametrize(
    "picture",
    [path for path in sorted(IMAGES.glob("*.svg")) if path.stem != "autophase-oz"],
    ids=lambda path: path.stem,
)
def test_no_label_of_a_drawing_touches_a_line(picture: Path, browser: Any) -> None:
    page = browser.new_page()
    page.set_content(picture.read_text(encoding="utf-8"))
    assert page.eval_on_selector("svg", _COLLISIONS) == []
    page.close()


def test_a_label_on_a_line_is_seen(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(
        '<svg width="300" height="100"><polyline points="10,50 290,50"/>'
        '<text x="40" y="54">on the line</text><text x="40" y="90">not on it</text>'
        '<text x="280" y="20">too long for the card</text></svg>'
    )
    assert page.eval_on_selector("svg", _COLLISIONS) == ["on the line", "too long for the card"]
    page.close()
