# SPDX-License-Identifier: MIT
"""Debian's Chromium, driven by playwright: for the pictures and the checks of pages."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

__all__ = ["CHROMIUM", "start_browser"]

CHROMIUM = shutil.which("chromium")
"""The path of the browser, None if it is not installed."""


@contextmanager
def start_browser() -> Generator[Any]:
    """Start the browser without a window, and close it at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
