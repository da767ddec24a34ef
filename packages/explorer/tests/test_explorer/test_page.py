# SPDX-License-Identifier: MIT
"""The page in a real browser: Debian's Chromium, driven by Playwright."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.tools.tune import PLAN_FILE, BinaryPlan, BuildPlan, write_plan
from test_explorer.conftest import LOOP, Client, serving
from tests.stand_ins import stand_in

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
_CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="chromium is missing")
_PATIENCE = 120_000
"""Milliseconds that anything may take that is no measurement: the machine may be busy."""
DEEP = "splits 8\ndim a 4096\nx = read A[a]\ny = read B[a]\ns = add x y\nwrite s C[a]\n"
_AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"


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
        page.on("pageerror", stand_in(lambda error: errors.append(str(error))))
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


def names(page: Any) -> list[str]:
    return steps(page).locator("code").all_inner_texts()


def view(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def test_the_page_gives_the_first_step_and_hides_its_token(page: Any) -> None:
    sync_api.expect(page.get_by_role("heading", name="Choose a program")).to_be_visible()
    assert "token" not in page.url


def test_without_its_token_the_page_gives_the_fix(browser: Any, client: Client) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(client.address)
        sync_api.expect(page.get_by_role("alert")).to_contain_text("Open that address again")


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
def test_an_action_that_is_refused_takes_no_other_with_it(page: Any) -> None:
    open_source(page)
    for action in ("mem2reg", "no-such-pass", "instcombine", "gvn"):
        adding(page).fill(action)
        adding(page).press("Enter")
    sync_api.expect(page.get_by_role("alert")).to_contain_text("no-such-pass")
    page.get_by_text("compiling…").wait_for(state="hidden")
    assert names(page) == ["mem2reg", "instcombine", "gvn"]
    page.get_by_role("button", name="Undo").click()
    assert names(page) == ["mem2reg", "instcombine"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_refused_action_is_explained_next_to_its_text(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    open_source(page)
    add(page, "srao")
    alert = page.get_by_role("alert")
    sync_api.expect(alert).to_have_text("no action 'srao' in Passes: did you mean sroa?")
    sync_api.expect(adding(page)).to_have_value("srao")
    assert alert.bounding_box()["y"] > adding(page).bounding_box()["y"]
    assert page.get_by_label("Sequence").get_by_role("alert").count() == 1
    add(page, "sroa")
    sync_api.expect(alert).to_have_count(0)
    assert names(page) == ["sroa"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_name_stays_inside_the_tree_and_a_reward_next_to_its_bar(
    page: Any, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    open_source(page)
    add(page, "sroa", "mldst-motion<split-footer-bb>", "separate-const-offset-from-gep<lower-gep>")
    view(page, "Tree")
    tree = page.get_by_role("tree")
    assert tree.evaluate("(tree) => tree.scrollWidth <= tree.clientWidth")
    bar, digits = (page.locator(f".reward {tag}").first.bounding_box() for tag in ("i", "b"))
    assert bar["y"] >= digits["y"] + digits["height"] - 4  # below the digits


@pytest.mark.slow
def test_steps_are_dragged_moved_by_keys_turned_off_and_removed(page: Any) -> None:
    open_source(page)
    add(page, "mem2reg", "instcombine", "simplifycfg", "gvn")
    steps(page).nth(1).drag_to(steps(page).nth(3))
    assert names(page) == ["instcombine", "simplifycfg", "mem2reg", "gvn"]
    steps(page).nth(4).drag_to(steps(page).nth(1))
    assert names(page) == ["gvn", "instcombine", "simplifycfg", "mem2reg"]
    steps(page).nth(1).click()
    page.keyboard.press("Alt+ArrowDown")
    assert names(page) == ["instcombine", "gvn", "simplifycfg", "mem2reg"]
    page.keyboard.press("Space")
    sync_api.expect(steps(page).nth(2)).to_contain_text("off")
    page.keyboard.press("Delete")
    assert names(page) == ["instcombine", "simplifycfg", "mem2reg"]
    for _ in range(5):
        page.keyboard.press("Control+z")
    assert names(page) == ["mem2reg", "instcombine", "simplifycfg", "gvn"]


WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def total(page: Any) -> Any:
    return page.get_by_test_id("total")


def rewards(page: Any) -> float:
    """Return the sum of the rewards in the list of steps."""
    texts = steps(page).locator(".reward b").all_inner_texts()
    return sum(float(text.replace("·", "0").replace("\N{MINUS SIGN}", "-") or 0) for text in texts)


@pytest.mark.slow
@WIDTHS
@pytest.mark.parametrize("with_keys", [False, True], ids=["mouse", "keys"])
def test_the_total_reward_is_that_of_the_sequence_for_every_selected_step(
    page: Any, width: int, *, with_keys: bool
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    open_source(page)
    add(page, "sroa", "instcombine", "simplifycfg", "gvn")
    page.mouse.click(width - 4, 4)  # closes the list of actions
    if with_keys:
        steps(page).nth(4).click()
        for _ in range(3):
            page.keyboard.press("Alt+ArrowUp")
    else:
        steps(page).nth(4).drag_to(steps(page).nth(1))
    assert names(page) == ["gvn", "sroa", "instcombine", "simplifycfg"]
    sync_api.expect(total(page)).not_to_have_text("…")
    assert float(total(page).inner_text()) == pytest.approx(rewards(page), abs=0.01)
    first = steps(page).nth(1).locator(".reward b").inner_text()
    assert float(total(page).inner_text()) > float(first.replace("·", "0"))
    whole = total(page).inner_text()
    steps(page).nth(0).click()
    sync_api.expect(total(page)).to_have_text(whole)
    sync_api.expect(total(page).locator("..")).to_contain_text("here 0")


def sessions(page: Any) -> list[str]:
    return (
        page.get_by_role("navigation", name="Sessions").locator("[aria-current]").all_inner_texts()
    )


def focused(page: Any) -> str:
    """Return the label or the text of the focused element."""
    return page.evaluate(
        "(({ ariaLabel, labels, innerText, value }) => ariaLabel || labels?.[0]?.firstChild"
        ".textContent.trim() || innerText || value)(document.activeElement)"
    )


def open_new(page: Any) -> Any:
    """Open the dialog with the Enter key, and return it."""
    page.get_by_role("button", name="New", exact=True).press("Enter")
    return page.get_by_role("dialog", name="New session")


def programs(dialog: Any, **state: bool) -> Any:
    return dialog.get_by_role("listbox", name="Programs").get_by_role("option", **state)


def hold(page: Any, pattern: str, milliseconds: int) -> None:
    """Delay the server's answers."""

    def late(route: Any) -> None:
        page.wait_for_timeout(milliseconds)
        route.continue_()

    page.route(pattern, late)


@WIDTHS
@pytest.mark.parametrize("waits", [True, False], ids=["listed", "at-once"])
def test_enter_opens_the_program_that_was_typed(page: Any, width: int, *, waits: bool) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.get_by_role("button", name="Compile and open").wait_for()
    dialog = open_new(page)
    sync_api.expect(dialog.get_by_label("Search programs")).to_be_focused()
    page.keyboard.type("cbench-v1/sha")
    if waits:
        chosen = programs(dialog, selected=True)
        sync_api.expect(chosen).to_have_text("benchmark://cbench-v1/sha")
        sync_api.expect(dialog.get_by_role("status")).to_contain_text("cbench-v1/sha is compiled")
    else:
        hold(page, "**/programs?*", 500)
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    assert sessions(page) == ["cbench-v1/sha"]


@pytest.mark.slow
@WIDTHS
def test_the_new_dialog_can_be_used_with_keys_alone(page: Any, width: int) -> None:
    expect, keys = sync_api.expect, page.keyboard
    page.set_viewport_size({"width": width, "height": 844})
    dialog = open_new(page)
    options = programs(dialog)
    keys.type("cbench-v1/jpeg")
    expect(options).to_have_count(2)
    for key, place in (("ArrowDown", 1), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowDown", 1)):
        keys.press(key)
        expect(options.nth(place)).to_have_attribute("aria-selected", "true")
        expect(dialog.get_by_label("Search programs")).to_be_focused()
    keys.press("Tab")
    expect(options.nth(1)).to_be_focused()
    keys.press("ArrowUp")
    expect(options.nth(0)).to_be_focused()
    keys.press("Enter")
    dialog.wait_for(state="hidden")
    assert sessions(page) == ["cbench-v1/jpeg-c"]
    assert focused(page) == "New"

    open_new(page)
    keys.type("no such program")
    expect(dialog).to_contain_text("No installed program has that name")
    expect(dialog.get_by_role("status")).to_have_text("Select a program first.")
    keys.press("Enter")
    assert [focused(page), len(sessions(page))] == ["Search programs", 1]
    order = ["File", "Paste text", "Installed program", "Reward", "Actions", "Environment"]
    for name in order:
        keys.press("Shift+Tab")
        assert focused(page) == name
    for _ in range(4):
        keys.press("Tab")
    keys.press("Space")  # on "Paste text"
    expect(dialog.get_by_role("status")).to_have_text("Paste the text of a program first.")
    for _ in range(3):  # "File", "Language" and the editor
        keys.press("Tab")
    expect(dialog.get_by_label("Program text")).to_be_focused()
    keys.type("int main(void) { return 7; }")
    keys.press("Escape")  # leaves the editor, not the dialog
    expect(dialog).to_be_visible()
    keys.press("Tab")
    assert focused(page) == "Compile and open"
    keys.press("Enter")
    dialog.wait_for(state="hidden")
    assert sessions(page) == ["cbench-v1/jpeg-c", "pasted"]

    open_new(page)
    keys.press("Shift+Tab")
    keys.press("Enter")  # on "File"
    expect(dialog.get_by_role("status")).to_have_text("Enter a path first.")
    keys.press("Tab")
    keys.type("cbench-v1/no-such")
    keys.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("no-such")
    keys.press("Escape")
    dialog.wait_for(state="hidden")
    assert focused(page) == "New"
    open_new(page)
    expect(dialog.get_by_label("Search programs")).to_be_focused()
    assert dialog.get_by_role("alert").count() == 0  # that was about another program
    keys.press("Shift+Tab")
    keys.press("Enter")
    keys.press("Tab")
    keys.type("cbench-v1/crc32")
    keys.press("Enter")
    dialog.wait_for(state="hidden")
    assert sessions(page)[2:] == ["cbench-v1/crc32"]


@pytest.mark.slow
@WIDTHS
def test_the_new_dialog_can_be_used_with_the_mouse_alone(
    page: Any, width: int, tmp_path: Path
) -> None:
    expect = sync_api.expect
    page.set_viewport_size({"width": width, "height": 844})
    new = page.get_by_role("button", name="New", exact=True)
    dialog = page.get_by_role("dialog", name="New session")
    new.click()
    assert dialog.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    # The usual program is selected and can be seen.
    expect(programs(dialog, selected=True)).to_have_text("benchmark://cbench-v1/qsort")
    expect(programs(dialog, selected=True)).to_be_in_viewport(ratio=1)
    programs(dialog).filter(has_text="bitcount").click()
    expect(dialog.get_by_role("status")).to_contain_text("cbench-v1/bitcount")
    dialog.get_by_role("button", name="Compile and open").click()
    dialog.wait_for(state="hidden")
    new.click()
    programs(dialog).filter(has_text="adpcm").dblclick()
    dialog.wait_for(state="hidden")
    assert sessions(page) == ["cbench-v1/bitcount", "cbench-v1/adpcm"]

    new.click()
    dialog.get_by_role("button", name="Paste text").click()
    dialog.get_by_role("button", name="File").click()
    program = tmp_path / "seven.c"
    program.write_text("int main(void) { return 7; }\n", encoding="utf-8")
    dialog.get_by_label("Or upload a file").set_input_files(program)
    expect(dialog.get_by_label("Program text")).to_contain_text("return 7")
    dialog.get_by_role("button", name="Installed program").click()
    dialog.get_by_label("Reward").select_option("ObjectTextSizeOz")
    dialog.get_by_label("Environment").select_option("mlir-v0")
    # The program belongs to the environment that was selected last.
    dialog.get_by_role("button", name="Compile and open").click()
    dialog.wait_for(state="hidden")
    assert len(sessions(page)) == 3
    assert "cbench" not in sessions(page)[-1]
    new.click()
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="hidden")
    assert len(sessions(page)) == 3


@pytest.mark.slow
def test_an_environment_that_was_just_selected_opens_its_own_program(page: Any) -> None:
    dialog = open_new(page)
    sync_api.expect(programs(dialog, selected=True)).to_have_count(1)
    hold(page, "**/api/environments/*", 500)
    dialog.get_by_label("Environment").select_option("loop_tool-v0")
    dialog.get_by_label("Search programs").press("Enter")
    dialog.wait_for(state="hidden")
    assert "cbench" not in sessions(page)[0]


@pytest.mark.slow
def test_a_replay_that_was_cancelled_does_not_wait_for_the_next_program(
    page: Any, tmp_path: Path
) -> None:
    expect, dialog = sync_api.expect, page.get_by_role("dialog")
    binary = BinaryPlan("bin/x", "program", passes="function(gvn)")
    write_plan(tmp_path / PLAN_FILE, BuildPlan("llvm 22", "size", "1", (binary,)))
    page.get_by_role("button", name="Open…").click()
    expect(dialog.get_by_label("Path on the server's machine")).to_be_focused()
    page.keyboard.type(str(tmp_path))
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Replay").click()
    expect(dialog).to_contain_text("Choose a program to replay")
    expect(dialog.get_by_label("Search programs")).to_be_focused()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    open_new(page)
    expect(dialog).not_to_contain_text("replay")
    page.keyboard.type("crc32")
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    assert names(page) == []


@WIDTHS
def test_side_by_side_gives_its_reason_or_opens_a_second_program(page: Any, width: int) -> None:
    expect = sync_api.expect
    page.set_viewport_size({"width": width, "height": 844})
    side = page.get_by_role("button", name="Side by side")
    for button in (side, page.get_by_role("button", name="Export")):
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", "Choose a program first")
    page.get_by_role("button", name="Compile and open").click()
    adding(page).wait_for()
    side.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Choose a program to show beside cbench-v1/qsort")
    page.keyboard.press("Escape")
    open_new(page)
    expect(dialog).not_to_contain_text("beside")
    page.keyboard.press("Escape")
    side.click()
    page.keyboard.type("cbench-v1/sha")
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    panels = page.locator("section.panel")
    expect(panels).to_have_count(2)
    expect(panels.nth(1)).to_have_attribute("aria-label", "cbench-v1/sha")
    side.click()
    expect(panels).to_have_count(1)


@pytest.mark.slow
@WIDTHS
def test_a_dialog_begins_at_its_first_control_and_keeps_the_keys(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.get_by_label("Actions").select_option("Parameters")
    open_source(page)
    adding(page).press("Escape")
    first = {
        "New": "Search programs",
        "Open…": "Path on the server's machine: a file, or the folder of a run, a leaderboard"
        " entry or a tuned project",
        "Export": "Copy",
        "Values…": "pass",
        "Keyboard shortcuts": "Keyboard shortcuts",
    }
    for button, name in first.items():
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_function("document.activeElement?.closest('dialog')")
        page.get_by_text("Loading…").wait_for(state="hidden")
        page.wait_for_timeout(100)
        assert focused(page) == name
        title = page.get_by_role("dialog").get_by_role("heading").first.inner_text()
        if button == "Export":
            page.keyboard.press("?")  # a key of the page below, not of the dialog
        assert page.get_by_role("dialog").get_by_role("heading").first.inner_text() == title
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="hidden")


@pytest.mark.slow
def test_actions_without_names_are_put_together_and_changed_in_a_form(page: Any) -> None:
    page.get_by_label("Actions").select_option("Parameters")
    page.get_by_role("button", name="Compile and open").click()
    page.get_by_role("button", name="Values…").click()
    page.get_by_label("pass", exact=True).select_option("licm")
    page.get_by_label("allowspeculation", exact=True).select_option("false")
    page.get_by_role("button", name="Insert at the beginning").click()
    sync_api.expect(steps(page)).to_have_count(2)
    assert names(page) == ["licm allowspeculation=false"]
    hold(page, "**/actions", 700)
    page.get_by_role("button", name="Values…").click()
    chosen = page.get_by_label("allowspeculation", exact=True)
    sync_api.expect(chosen.locator("option:checked")).to_have_text("false")
    chosen.select_option("true")
    page.wait_for_timeout(1000)  # the form's description may come after the choice
    page.get_by_role("button", name="Replace step 1").click()
    sync_api.expect(steps(page).nth(1)).to_contain_text("allowspeculation=true")
    assert len(names(page)) == 1


def saved(page: Any, form: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("tabpanel").get_by_role("button", name=form, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.slow
def test_every_picture_is_kept_as_it_is_seen(page: Any, tmp_path: Path) -> None:
    """As SVG with no page around it, and as PNG: the text in it and the ground are not one."""
    open_source(page)
    add(page, "mem2reg", "instcombine")
    page.get_by_role("button", name="Dark colours").click()
    view(page, "Try all")
    page.get_by_role("tabpanel").get_by_role("button", name="Try all").click()
    page.get_by_text("change something: done").wait_for()
    view(page, "Search")
    page.get_by_label("Seconds").fill("2")
    page.get_by_role("button", name="Search from here").click()
    page.get_by_role("button", name="Go there").wait_for()
    said = {"Graphs": "ret i32", "Charts": "beginning", "Try all": "gvn", "Tree": "mem2reg"}
    for name in (*said, "Search"):
        view(page, name)
        page.get_by_role("button", name="SVG", exact=True).and_(page.locator(":enabled")).wait_for()
        picture = saved(page, "SVG", tmp_path)
        text = picture.read_text(encoding="utf-8")
        ET.fromstring(text)
        assert said.get(name, "circle") in text
        colours = set(re.findall(r'fill="(#\w+)"', text))
        assert len(colours) > 1
        assert "var(" not in text
        image = saved(page, "PNG", tmp_path).read_bytes()
        assert image.startswith(b"\x89PNG")
        assert len(image) > 2000


@pytest.mark.slow
def test_a_large_graph_is_drawn_and_kept(page: Any, tmp_path: Path) -> None:
    open_source(page, "".join(f"int f{n}(int x) {{ return x * {n} + 1; }}\n" for n in range(400)))
    add(page, "mem2reg")
    view(page, "Graphs")
    page.get_by_label("Graph", exact=True).select_option("programl")
    status = page.get_by_role("tabpanel").get_by_role("status")
    sync_api.expect(status).to_contain_text("nodes")
    page.locator("canvas").wait_for()
    text = saved(page, "SVG", tmp_path).read_text(encoding="utf-8")
    count = int(re.match(r"([\d,]+) nodes", status.inner_text()).group(1).replace(",", ""))  # type: ignore[union-attr]  # it says so
    assert count > 2000
    assert text.count("<title>") >= count
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Fit").click()


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
    from test_explorer.test_tree import kill_worker

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
        expect(page.get_by_text("The server is not responding")).to_be_visible(timeout=_PATIENCE)
        with serving(token="known", port=port):
            expect(page.get_by_text("Session reopened")).to_be_visible(timeout=_PATIENCE)
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
def test_text_in_a_program_is_shown_and_never_executed(page: Any) -> None:
    evil = "<img src=x onerror=window.done=1><script>window.done=1</script>"
    open_source(
        page,
        f'@"{evil}" = global i32 0, !name !0\n'
        f'define i32 @main(i32 %n) {{\n  %r = call i32 @"f{evil}"(i32 %n)\n  ret i32 %r\n}}\n'
        f'define i32 @"f{evil}"(i32 %n) {{\n  %a = add i32 %n, 0\n  ret i32 %a\n}}\n'
        f'!0 = !{{!"{evil}"}}\n',
        "IR",
    )
    add(page, "instcombine")
    for name in ("Diff", "Code", "Charts", "Tree", "Graphs"):
        view(page, name)
        page.wait_for_timeout(700)
    for kind in ("cfg", "loops", "programl", "calls"):
        page.get_by_label("Graph", exact=True).select_option(kind)
        page.wait_for_timeout(700)
    sync_api.expect(page.locator(".picture")).to_contain_text("onerror")
    sync_api.expect(page.get_by_text("cannot be drawn")).to_have_count(0)
    assert page.evaluate("window.done") is None
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.slow
def test_two_sessions_are_looked_at_side_by_side(page: Any) -> None:
    open_source(page)
    add(page, "mem2reg")
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Compile and open").click()
    page.get_by_role("dialog").wait_for(state="hidden")
    page.get_by_role("button", name="Side by side").click()
    panels = page.locator("section.panel")
    sync_api.expect(panels).to_have_count(2)
    for i, action in enumerate(("gvn", "sroa")):
        panel = panels.nth(i)
        panel.get_by_role("combobox", name="Add an action").fill(action)
        panel.get_by_role("combobox", name="Add an action").press("Enter")
        sync_api.expect(panel.locator(".step code").last).to_have_text(action)
    panels.first.get_by_role("option", name="Original").click()
    page.keyboard.press("Control+z")
    sync_api.expect(panels.first.locator(".step code")).to_have_count(0)  # the new one
    sync_api.expect(panels.nth(1).locator(".step code")).to_have_count(2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "damaged"), ('{"x": 1}', "needs a benchmark"), ("#s1.AAAA", "this link is damaged")],
)
def test_a_program_that_cannot_be_opened_is_reported(page: Any, text: str, says: str) -> None:
    page.get_by_role("button", name="Open…").click()
    page.get_by_label("Or text").fill(text)
    page.get_by_role("button", name="Read", exact=True).click()
    sync_api.expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(says)


@pytest.mark.slow
@pytest.mark.skipif(not _AXE.exists(), reason="axe-core is missing: npm ci in web/")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(page: Any, width: int, theme: str) -> None:
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
    if theme == "dark":
        page.get_by_role("button", name="Dark colours").click()
    look("start")
    page.get_by_label("Actions").select_option("Parameters")
    open_source(page)
    add(page, "mem2reg")
    page.mouse.click(width - 4, 4)
    for name in ("Diff", "Code", "Graphs", "Charts", "Search", "Tree"):
        view(page, name)
        page.wait_for_timeout(600)
        look(name)
    for button in ("Values…", "New", "Open…", "Export", "Keyboard shortcuts"):
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_timeout(600)
        look(button)
        page.keyboard.press("Escape")
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Compile and open").click()
    page.get_by_role("dialog").wait_for(state="hidden")
    add(page, "no-such-pass", "mem2reg")
    view(page, "Try all")
    page.get_by_role("tabpanel").get_by_role("button", name="Try all").click()
    page.get_by_text("change something: done").wait_for()
    look("heat map")
    assert found == []


@pytest.mark.slow
def test_the_first_view_is_the_code_and_a_step_shows_what_it_changed(page: Any) -> None:
    expect = sync_api.expect
    open_source(page)
    expect(page.get_by_role("tab", name="Code")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("region", name="Source")).to_contain_text("for")
    expect(page.locator("[class*=hue-]").first).to_be_visible()
    add(page, "mem2reg")
    expect(page.get_by_role("tab", name="Diff")).to_have_attribute("aria-selected", "true")


@pytest.mark.slow
def test_text_is_typed_and_what_clang_says_is_shown_in_lines(page: Any) -> None:
    expect = sync_api.expect
    page.get_by_role("button", name="Paste text").click()
    page.get_by_label("Program text").click()
    page.keyboard.type("int main(void) { retun 0; }")
    page.get_by_role("button", name="Compile and open").click()
    said = page.get_by_role("alert").locator("pre")
    expect(said).to_contain_text("retun 0")
    lines = said.inner_text().splitlines()
    assert lines[0] == "clang cannot compile the program:"
    assert any(line.strip().startswith("| ") and "^" in line for line in lines)
    assert not any(" -x" in line for line in lines)


@pytest.mark.slow
def test_a_list_is_one_stop_of_the_tab_key_and_escape_leaves_an_editor(page: Any) -> None:
    programs = page.get_by_role("listbox", name="Programs").get_by_role("option")
    programs.first.wait_for()
    assert programs.evaluate_all("all => all.filter(one => one.tabIndex === 0).length") == 1
    open_source(page)
    page.get_by_label("Source").locator(".cm-content").click()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")


@pytest.mark.slow
def test_back_leads_to_the_session_before(page: Any) -> None:
    expect = sync_api.expect
    open_source(page)
    page.wait_for_url("**/#s1.*")
    page.get_by_role("button", name="New").click()
    page.get_by_role("option", name="crc32").click()
    page.get_by_role("button", name="Compile and open").click()
    tabs = page.get_by_role("navigation", name="Sessions")
    expect(tabs.locator("[aria-current=true]")).to_contain_text("crc32")
    page.wait_for_function("history.state && history.length >= 3")
    page.wait_for_timeout(600)
    page.go_back()
    expect(tabs.locator("[aria-current=true]")).to_contain_text("pasted")


@pytest.mark.slow
def test_a_narrow_screen_shows_one_column_of_differences(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_source(page)
    add(page, "mem2reg")
    page.locator("[data-testid=diff] .cm-deletedChunk").first.wait_for()
    assert page.locator("[data-testid=diff] .cm-editor").count() == 1


@pytest.mark.slow
def test_a_tuned_project_and_a_leaderboard_entry_open_by_clicking(
    page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect = sync_api.expect
    monkeypatch.chdir(tmp_path)
    binary = BinaryPlan("bin/x", "program", passes="function(gvn)")
    (tmp_path / "tuned").mkdir()
    write_plan(tmp_path / "tuned" / PLAN_FILE, BuildPlan("llvm 22", "size", "1", (binary,)))
    task = Path(__file__).parents[4] / "leaderboard" / "llvm-ic-10s"
    shutil.copytree(task / "greedy", tmp_path / task.name / "greedy")
    dialog = page.get_by_role("dialog")

    page.get_by_role("button", name="Open…").click()
    dialog.get_by_role("listitem").filter(has_text="greedy").get_by_role("button").click()
    expect(dialog).to_contain_text("Leaderboard entry: 23 results")
    dialog.get_by_role("listitem").filter(has_text="crc32").get_by_role("button").click()
    adding(page).wait_for()
    assert len(names(page)) > 1

    page.get_by_role("button", name="Open…").click()
    dialog.get_by_role("listitem").filter(has_text="tuned").get_by_role("button").click()
    dialog.get_by_role("listitem").filter(has_text="bin/x").get_by_role("button").click()
    expect(dialog).to_contain_text("Choose a program to replay “bin/x: size, program” on")
    dialog.get_by_role("option", name="crc32").click()
    dialog.get_by_role("button", name="Compile and open").click()
    dialog.wait_for(state="hidden")
    expect(steps(page).last).to_contain_text("gvn")


@pytest.mark.slow
def test_sessions_that_a_killed_browser_left_are_listed_to_be_closed(browser: Any) -> None:
    expect = sync_api.expect
    with serving() as server:
        for _ in range(8):  # nobody closes them, as where a browser is killed
            server.open(benchmark="cbench-v1/crc32")
        page = browser.new_page()
        page.goto(server.server.address)
        page.get_by_role("button", name="Compile and open").click()
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("8 sessions are open")
        left = alert.get_by_role("button", name="Close")
        expect(left).to_have_count(8)
        left.first.click()
        expect(left).to_have_count(7)
        page.get_by_role("button", name="Compile and open").click()
        adding(page).wait_for()
        page.close()


@pytest.mark.slow
def test_a_deep_picture_of_loops_scrolls_to_its_end(page: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 450})
    page.get_by_label("Environment").select_option("loop_tool-v0")
    open_source(page, DEEP, "loop nest")
    view(page, "Graphs")
    picture = page.locator(".picture")
    last = picture.locator("svg .node").filter(has_text="C: 4096")
    last.wait_for()
    sync_api.expect(last).not_to_be_in_viewport()
    picture.hover()
    page.mouse.wheel(0, 20_000)
    sync_api.expect(last).to_be_in_viewport()
