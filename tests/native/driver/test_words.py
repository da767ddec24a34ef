# SPDX-License-Identifier: MIT
"""The driver splits text into words as LLVM's programs split response files."""

import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.native.driver.trees import DRIVER

TEXTS = st.text("ab'\"\\ \t\n\r\v\f", max_size=30)


@pytest.mark.skipif(shutil.which("llvm-cxxfilt-22") is None, reason="needs llvm-22")
@settings(max_examples=examples(300))
@given(text=TEXTS)
def test_words_are_those_of_llvm(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "words.rsp"
    file.write_bytes(text.encode())
    printer = file.with_name("printer")
    printer.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    printer.chmod(0o755)
    expected, found = (
        subprocess.run(words, env=variables, capture_output=True, check=True).stdout
        for words, variables in (
            (["llvm-cxxfilt-22", "first", f"@{file}", "last"], None),
            ([DRIVER, "last"], {**os.environ, "COMPILER_GYM_CC": f"{printer} first {text}"}),
        )
    )
    assert found == expected
