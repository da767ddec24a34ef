# SPDX-License-Identifier: MIT
"""Which programs LLVM can start from, and files among them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import (
    BenchmarkInitError,
)

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
Env = Callable[..., LlvmEnv]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("file://part.c", "with its whole path, such as file://.*/part.c"),
        ("file://sub/part.c", "with its whole path, such as file://.*/sub/part.c"),
        ("file://", "with its whole path"),
        ("file:///a%00b.c", "null byte"),
        ("file:///dev/null", "found a pipe or a device"),
    ],
)
def test_an_address_of_no_file_says_what_is_expected(
    address: str, message: str, project: Path, make_env: Env
) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        make_env().reset(benchmark=address)


def test_files_with_odd_names_are_found(project: Path, make_env: Env) -> None:
    env = make_env()
    for name in ("sp ace.c", "per%20cent.c", "hash#mark?.c", "\udcff.c"):
        path = project / name
        path.write_text("int f(void) { return 1; }\n")
        _, info = env.reset(benchmark=path.as_uri())
        assert info["benchmark"] == path.as_uri()
    env.reset(benchmark=f"file://{project}/sp ace.c")
    assert str(env.benchmark).endswith("/sp%20ace.c")
