# SPDX-License-Identifier: MIT
"""Takes the pictures of the web explorer: ``python -m docs.explorer_pictures``.

Needs Debian's ``chromium``, ``playwright``, ``pillow`` and the extra ``web``; look at what it made.
"""

import shutil
import threading
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from compiler_gym.tools.explorer import Server, Settings

__all__ = ["main"]

IMAGES = Path(__file__).with_name("images")
PROGRAM = "cbench-v1/stringsearch"
PASSES = ("mem2reg", "instcombine", "simplifycfg", "gvn", "loop-rotate", "licm", "dce", "sccp")


def main() -> None:
    """Take every picture."""
    with _served() as address, _browser() as browser:
        _light(browser, address)
        _dark(browser, address)
        _narrow(browser, address)


def _light(browser: Any, address: str) -> None:
    page = _page(browser, address, 1180, 640)
    _add(page, *PASSES)
    page.get_by_role("option").filter(has_text="gvn").first.click()
    page.locator(".cm-mergeView .cm-changedLine").first.wait_for()
    page.wait_for_timeout(1000)
    _take(page, "web-diff")
    page.get_by_role("tab", name="Graphs").click()
    page.locator(".picture .node").first.wait_for()
    page.wait_for_timeout(1000)
    _take(page, "web-graph")
    page.close()


def _dark(browser: Any, address: str) -> None:
    page = _page(browser, address, 1180, 560, dark=True)
    _add(page, *PASSES[:2])
    page.get_by_role("tab", name="Try all").click()
    page.get_by_role("tabpanel").get_by_role("button", name="Try all").click()
    page.get_by_text("change something: done").wait_for()
    page.wait_for_timeout(500)
    _take(page, "web-heat-dark")
    for count in (1, 2):
        for _ in range(count):
            page.get_by_role("button", name="Undo").click()
        _add(page, *PASSES[2 + count : 6])
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Seconds").fill("5")
    page.get_by_role("button", name="Search from here").click()
    page.get_by_role("button", name="Go there").click()
    page.get_by_role("tab", name="Tree").click()
    page.wait_for_timeout(500)
    _take(page, "web-tree-dark")
    page.close()


def _narrow(browser: Any, address: str) -> None:
    page = _page(browser, address, 400, 720)
    _add(page, *PASSES[:4])
    page.mouse.click(396, 4)
    page.wait_for_timeout(500)
    _take(page, "web-narrow")
    page.close()


def _page(browser: Any, address: str, width: int, height: int, *, dark: bool = False) -> Any:
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    page.set_default_timeout(120_000)
    page.goto(address)
    page.get_by_label("Search programs").fill(PROGRAM)
    page.get_by_role("option", name=f"benchmark://{PROGRAM}", exact=True).click()
    page.get_by_role("button", name="Compile and open").click()
    page.get_by_role("combobox", name="Add an action").wait_for()
    return page


def _add(page: Any, *actions: str) -> None:
    field = page.get_by_role("combobox", name="Add an action")
    for action in actions:
        field.fill(action)
        field.press("Enter")
    page.get_by_text("compiling…").wait_for(state="hidden")
    page.wait_for_timeout(2000)


def _take(page: Any, name: str) -> None:
    """Keep what is seen, in few colours: a file of a quarter of the size."""
    from PIL import Image

    with Image.open(BytesIO(page.screenshot())) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(IMAGES / f"{name}.png", optimize=True)


@contextmanager
def _browser() -> Generator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@contextmanager
def _served() -> Generator[str]:
    with Server(Settings()) as server:
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(ready.set,))
        thread.start()
        ready.wait()
        yield server.address
        server.stop()
        thread.join()


if __name__ == "__main__":
    main()
