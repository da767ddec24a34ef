# SPDX-License-Identifier: MIT
"""Find the pages of the built site that scroll sideways, or whose scripts fail, in a browser.

The theme hides the overflow of the document on a phone and lets the column of text scroll, so the
width of the document alone says nothing there: each box around the text is compared.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["DESKTOP", "PHONE", "find_wide_pages"]

PHONE = 390
DESKTOP = 1280
"""Widths of a window, in CSS pixels."""

_WIDEST = """
() => {
  const frames = [...document.querySelectorAll('html, body, .page, .main, .content')];
  if (frames.every(frame => frame.scrollWidth <= frame.clientWidth)) return null;
  const isFrame = element => frames.includes(element);
  const isClipped = element => {
    for (let box = element.parentElement; box && !isFrame(box); box = box.parentElement)
      if (getComputedStyle(box).overflowX !== 'visible') return true;
    return false;
  };
  let found = null, most = 0;
  for (const element of document.body.querySelectorAll('.content *, body > :not(.page)')) {
    const box = element.getBoundingClientRect();
    const isOpen = getComputedStyle(element).overflowX === 'visible';
    const right = box.left + Math.max(box.width, isOpen ? element.scrollWidth : 0);
    if (box.width && right >= most && !isClipped(element)) [found, most] = [element, right];
  }
  if (!found) return 'the document';
  const name = found.tagName.toLowerCase() + [...found.classList].map(one => '.' + one).join('');
  const text = found.textContent.trim().replace(/\\s+/g, ' ').slice(0, 40);
  return `<${name}> '${text}' ends at ${Math.round(most)} px`;
}
"""
"""Names the element that extends farthest to the right, null if the page fits the window."""


def find_wide_pages(pages: Iterable[Path], width: int, browser: Any) -> Iterator[str]:
    """Yield a line for each page that scrolls sideways or has an error in a script.

    Boxes that scroll on their own, such as a wide table, are allowed.
    """
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        window = context.new_page()
        window.set_default_timeout(120_000)
        errors: list[str] = []

        def note(error: Exception) -> None:
            errors.append(str(error))

        window.on("pageerror", note)
        for page in pages:
            window.goto(page.as_uri())
            if widest := window.evaluate(_WIDEST):
                yield f"{page}: at {width} px: {widest}"
            yield from (f"{page}: {error}" for error in errors)
            errors.clear()
