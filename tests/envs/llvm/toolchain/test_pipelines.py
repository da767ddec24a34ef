# SPDX-License-Identifier: MIT
"""Pipelines are split where LLVM splits them."""

from compiler_gym.envs.llvm.toolchain.pipelines import split_pipeline


def test_a_pipeline_is_split_at_commas_outside_brackets() -> None:
    text = "function(sroa<a;b>,loop(x,y)), globaldce,,cgscc(inline<only-mandatory>)"
    assert split_pipeline(text) == [
        "function(sroa<a;b>,loop(x,y))",
        "globaldce",
        "cgscc(inline<only-mandatory>)",
    ]
    assert split_pipeline(" ") == []
