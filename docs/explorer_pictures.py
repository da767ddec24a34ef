# SPDX-License-Identifier: MIT
"""Take the screenshots of the web explorer: ``python -m docs.explorer_pictures``.

Needs Debian's ``chromium``, ``playwright``, ``pillow`` and the extra ``web``. A test takes them
again and fails if the explorer no longer looks like the stored pictures.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from compiler_gym_explorer import Server, Settings
from docs.browser import start_browser

__all__ = ["IMAGES", "main", "take_pictures"]

IMAGES = Path(__file__).with_name("images")
PROGRAM = "cbench-v1/stringsearch"
PASSES = ("mem2reg", "instcombine", "simplifycfg", "gvn", "loop-rotate", "licm", "dce", "sccp")


def main() -> None:
    """Replace the stored pictures."""
    take_pictures(IMAGES)


def take_pictures(folder: Path) -> None:
    """Write every picture to `folder`."""
    with _serve() as address, start_browser() as browser:
        _take_light(browser, address, folder)
        _take_dark(browser, address, folder)
        _take_narrow(browser, address, folder)


def _take_light(browser: Any, address: str, folder: Path) -> None:
    page = _open(browser, address, 1180, 640)
    _add(page, *PASSES)
    page.get_by_role("option").filter(has_text="gvn").first.click()
    page.locator(".cm-mergeView .cm-changedLine").first.wait_for()
    page.wait_for_timeout(1000)
    _save(page, folder / "web-diff.png")
    page.get_by_role("tab", name="Graphs").click()
    page.locator(".picture .node").first.wait_for()
    page.wait_for_timeout(1000)
    _save(page, folder / "web-graph.png")
    page.close()


def _take_dark(browser: Any, address: str, folder: Path) -> None:
    page = _open(browser, address, 1180, 560, dark=True)
    _add(page, *PASSES[:2])
    page.get_by_role("tab", name="Try all").click()
    page.get_by_role("tabpanel").get_by_role("button", name="Try all").click()
    page.get_by_text("change something: done").wait_for()
    page.wait_for_timeout(500)
    _save(page, folder / "web-heat-dark.png")
    for undone, passes in ((1, PASSES[3:6]), (2, PASSES[4:7]), (4, ("early-cse", *PASSES[1:4]))):
        for _ in range(undone):
            page.get_by_role("button", name="Undo").click()
        _add(page, *passes)
    page.get_by_role("tab", name="Tree").click()
    page.wait_for_timeout(500)
    _save(page, folder / "web-tree-dark.png")
    page.close()


def _take_narrow(browser: Any, address: str, folder: Path) -> None:
    page = _open(browser, address, 400, 720)
    _add(page, *PASSES[:4])
    page.mouse.click(396, 4)
    page.wait_for_timeout(500)
    _save(page, folder / "web-narrow.png")
    page.close()


def _open(browser: Any, address: str, width: int, height: int, *, dark: bool = False) -> Any:
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


def _save(page: Any, path: Path) -> None:
    """Write the visible page with 64 colours, which makes the file four times smaller."""
    from PIL import Image

    with Image.open(BytesIO(page.screenshot())) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


@contextmanager
def _serve() -> Generator[str]:
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
