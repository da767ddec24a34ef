# SPDX-License-Identifier: MIT
"""One module of a binary, and what of it stays visible."""

from dataclasses import replace

import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.whole import make_whole
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld


def test_everything_that_is_linked_is_in_it(binary: Binary) -> None:
    whole = make_whole(binary, binary.path, jobs=2)
    assert [binary.name_unit(unit) for unit in whole.units] == ["main.c", "sort.c"]
    assert whole.keep == ()  # what starts a program stays in any case
    with LlvmEnv() as env:
        env.reset(benchmark=whole.benchmark())
        assert "define internal i32 @total" in env.ir
        assert "define dso_local i32 @main" in env.ir
        assert "minsize" in env.ir


@pytest.mark.parametrize("words", [("-Wl,--version-script=x",), ("-T", "x"), ("-Wl,--wrap,f",)])
def test_where_a_linker_names_symbols_all_stay(binary: Binary, words: tuple[str, ...]) -> None:
    command = replace(binary.command, link_words=(*binary.command.link_words, *words))
    whole = make_whole(replace(binary, command=command), binary.path, jobs=1)
    assert whole.keep is None
    assert "scope" not in str(whole.benchmark().uri)
