# SPDX-License-Identifier: MIT
"""The page in a real browser: Debian's Chromium, driven by Playwright."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.explorer.conftest import LOOP, Client, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
_CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="chromium is missing")
_PATIENCE = 120_000
"""Milliseconds that anything may take that is no measurement: the machine may be busy."""
_AXE = Path(__file__).parents[2] / "explorer/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, client: Client) -> Iterator[Any]:
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(client.server.address)
        page.set_default_timeout(_PATIENCE)
        yield page
        page.close()
        for session in client.get("/api/sessions")["sessions"]:
            client.http.delete(f"/api/sessions/{session['id']}")  # the page may have been first
        assert errors == []


def open_source(page: Any, text: str = LOOP, language: str = "C") -> None:
    page.get_by_role("button", name="Paste text").click()
    page.get_by_label("Language").select_option(language)
    page.get_by_label("Program text").fill(text)
    page.get_by_role("button", name="Compile and open").click()
    adding(page).wait_for()


def adding(page: Any) -> Any:
    return page.get_by_role("combobox", name="Add an action")


def add(page: Any, *actions: str) -> None:
    for action in actions:
        adding(page).fill(action)
        adding(page).press("Enter")
    page.get_by_text("compiling…").wait_for(state="hidden")


def steps(page: Any) -> Any:
    return page.get_by_role("listbox", name="Steps").get_by_role("option")


def view(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def test_the_page_says_what_to_do_first_and_hides_its_token(page: Any) -> None:
    sync_api.expect(page.get_by_role("heading", name="Choose a program")).to_be_visible()
    assert "token" not in page.url


def test_without_its_token_the_page_says_what_to_do(browser: Any, client: Client) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(client.address)
        sync_api.expect(page.get_by_role("alert")).to_contain_text("open that address again")


@pytest.mark.slow
def test_passes_are_added_compared_undone_and_forked(page: Any) -> None:
    expect = sync_api.expect
    open_source(page)
    add(page, "mem2reg", "instcombine")
    expect(steps(page)).to_have_count(3)
    steps(page).nth(1).click()
    expect(page.get_by_test_id("diff")).to_contain_text("phi")
    page.get_by_role("button", name="Undo").click()
    expect(steps(page)).to_have_count(2)
    page.get_by_role("button", name="Redo").click()
    expect(steps(page)).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    add(page, "simplifycfg")
    view(page, "Tree")
    expect(page.get_by_role("treeitem")).to_have_count(3)  # the trunk and its two branches


@pytest.mark.slow
def test_every_action_is_tried_and_one_is_taken(page: Any) -> None:
    open_source(page)
    view(page, "Try all")
    page.get_by_role("tabpanel").get_by_role("button", name="Try all").click()
    page.get_by_text("change something: done").wait_for(timeout=120_000)
    page.get_by_test_id("heat").get_by_role("button").first.click()
    sync_api.expect(steps(page)).to_have_count(2)


@pytest.mark.slow
def test_a_search_is_watched_and_its_best_is_taken(page: Any) -> None:
    open_source(page)
    view(page, "Search")
    page.get_by_label("Seconds").fill("3")
    page.get_by_role("button", name="Search from here").click()
    page.get_by_role("button", name="Go there").click(timeout=60_000)
    assert steps(page).count() > 1


@pytest.mark.slow
def test_a_permanent_link_leads_to_the_same_state(page: Any, client: Client) -> None:
    open_source(page)
    add(page, "mem2reg")
    page.get_by_role("button", name="Export").click()
    link = page.get_by_role("textbox", name="Link").input_value()
    assert "token" not in link
    page.goto("about:blank")
    page.goto(link)
    sync_api.expect(steps(page)).to_have_count(2)


@pytest.mark.slow
def test_the_address_follows_the_state_and_leads_back_to_it(page: Any, client: Client) -> None:
    expect = sync_api.expect
    open_source(page)
    add(page, "mem2reg", "instcombine")
    steps(page).nth(1).click()
    view(page, "Graphs")
    page.wait_for_url("**/#s1.*&step=1&view=graph*")
    page.reload()
    expect(steps(page)).to_have_count(3, timeout=_PATIENCE)
    expect(steps(page).nth(1)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tab", name="Graphs")).to_have_attribute("aria-selected", "true")
    for _ in range(100):  # what the page left behind is closed
        if len(client.get("/api/sessions")["sessions"]) == 1:
            return
        page.wait_for_timeout(100)
    raise AssertionError("a page that was loaded again left its session open")


@pytest.mark.slow
def test_a_search_in_a_text_opens_and_closes_on_a_small_screen(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    open_source(page)
    add(page, "mem2reg")
    find = page.get_by_role("button", name="Find", exact=True)
    find.click()
    sync_api.expect(page.locator(".cm-search")).to_be_visible()
    find.click()
    sync_api.expect(page.locator(".cm-search")).to_have_count(0)


@pytest.mark.slow
def test_a_lost_worker_is_shown_and_replaced(page: Any, client: Client) -> None:
    from tests.explorer.test_tree import kill_worker

    open_source(page)
    add(page, "mem2reg")
    for session in client.server.api.registry.all():
        kill_worker(session._tree.env)  # pyright: ignore[reportPrivateUsage]  # whom to kill
        for env in session._tree._live.values():  # pyright: ignore[reportPrivateUsage]  # as above
            kill_worker(env)
    add(page, "instcombine")
    sync_api.expect(page.get_by_text("A compiler process was lost")).to_be_visible()
    sync_api.expect(steps(page)).to_have_count(3)


@pytest.mark.slow
def test_a_lost_server_is_shown_and_the_sequence_is_replayed(browser: Any) -> None:
    expect = sync_api.expect
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        with serving(token="known") as first:
            port = first.server.settings.port
            page.goto(first.server.address)
            open_source(page)
            add(page, "mem2reg")
        expect(page.get_by_text("The server does not answer")).to_be_visible(timeout=_PATIENCE)
        with serving(token="known", port=port):
            expect(page.get_by_text("Opened again")).to_be_visible(timeout=_PATIENCE)
            expect(steps(page)).to_have_count(2, timeout=_PATIENCE)
            page.close()


def busy_milliseconds(trace: bytes) -> float:
    """Return the processor time of the page's longest task.

    The clock would count what else the machine does, which makes every task long.
    """
    events = json.loads(trace)["traceEvents"]
    pages = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    times = [
        event["tdur"] / 1000
        for event in events
        if event["name"].endswith("RunTask")
        and (event["pid"], event["tid"]) in pages
        and "tdur" in event
    ]
    assert len(times) > 100
    return max(times)


@pytest.mark.slow
def test_a_large_program_keeps_the_page_awake(browser: Any, client: Client) -> None:
    body = "".join(f"  x = x * {i + 3} + y; y ^= x >> {i % 7};\n" for i in range(20))
    text = "".join(f"int f{n}(int x, int y) {{\n{body}  return x + y;\n}}\n" for n in range(120))
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        paints: list[float] = []
        for _ in range(3):
            page.goto(client.server.address)
            page.get_by_role("button", name="Paste text").wait_for()
            paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            paints.append(page.evaluate(paint))
        assert min(paints) <= 1000
        open_source(page, text)
        session = client.server.api.registry.all()[-1]
        assert session.record().nodes[0].costs["IrInstructionCount"] >= 20_000
        browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
        add(page, "mem2reg", "instcombine", "simplifycfg")
        for name in ("Code", "Graphs", "Tree", "Diff"):
            view(page, name)
            page.wait_for_timeout(1500)
        assert busy_milliseconds(browser.stop_tracing()) <= 200
        page.close()


@pytest.mark.slow
def test_a_step_is_seen_soon_after_the_compiler_is_done(browser: Any, client: Client) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        page.goto(client.server.address)
        open_source(page)
        # From the key to the frame that shows the step, less what the compiler itself took.
        watch = """() => { window.seen = new Promise((done) => {
            addEventListener('keydown', (event) => { const begin = event.timeStamp;
              const look = () => document.querySelectorAll('[role=option].step .reward b')
                .length > COUNT && [...document.querySelectorAll('[role=option].step')].at(-1)
                .querySelector('.reward b').textContent ? requestAnimationFrame(() =>
                  done(performance.now() - begin)) : requestAnimationFrame(look);
              look(); }, { once: true, capture: true }); }); }"""
        above: list[float] = []
        for number, action in enumerate(("mem2reg", "instcombine", "simplifycfg", "gvn", "dce")):
            adding(page).fill(action)
            page.evaluate(watch.replace("COUNT", str(number)))
            adding(page).press("Enter")
            took = page.evaluate("window.seen")
            session = client.server.api.registry.all()[-1]
            above.append(took - 1000 * session.record().nodes[-1].seconds)
        page.close()
    assert min(above) <= 100, above


@pytest.mark.slow
@pytest.mark.skipif(not _AXE.exists(), reason="axe-core is missing: cd explorer && npm ci")
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(page: Any, width: int) -> None:
    found: list[str] = []

    def look(where: str) -> None:
        page.evaluate(_AXE.read_text(encoding="utf-8"))
        rows = page.evaluate("axe.run().then((one) => one.violations)")
        found.extend(
            f"{where}: {row['id']}: {row['nodes'][0]['html'][:200]}"
            for row in rows
            if row["impact"] in ("serious", "critical")
        )

    page.set_viewport_size({"width": width, "height": 900})
    page.get_by_role("button", name="Compile and open").wait_for()
    look("start")
    open_source(page)
    add(page, "mem2reg")
    page.mouse.click(width - 4, 4)
    for name in ("Diff", "Code", "Graphs", "Charts", "Try all", "Search", "Tree"):
        view(page, name)
        page.wait_for_timeout(600)
        look(name)
    page.get_by_role("button", name="Dark colours").click()
    look("dark")
    assert found == []
