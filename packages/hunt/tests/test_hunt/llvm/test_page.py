# SPDX-License-Identifier: MIT
"""The page stands alone: it loads nothing, and runs nothing."""

import re

from compiler_gym_hunt.llvm.page import page

from .test_drafts import DOCUMENT


def test_the_page_needs_no_other_file_and_no_script() -> None:
    text = page(DOCUMENT)
    assert not re.search(r"<script|<link|<img|src=|url\(|https?:", text)
    assert text.startswith("<!doctype html>")
