# SPDX-License-Identifier: MIT
"""The card says what was written, and begins with what Hugging Face's library reads."""

from collections import Counter

from compiler_gym.datasets import PackageFacts
from compiler_gym_corpus.collections.card import ExportedSplit, write_card
from tests.datasets.conftest import Words

PACKAGE = PackageFacts("zlib", "1.0", "0" * 64, "Zlib", "train", "clang 22", "-Oz")


def test_the_card_counts_what_each_file_holds() -> None:
    parts = [
        ExportedSplit("train", Counter({"MIT": 1500, "GPL-2+ or|MIT": 2})),
        ExportedSplit("test", Counter({"MIT": 3})),
    ]
    card = write_card(Words("words-v0", ["a"]), parts, [PACKAGE])
    _, header, text = card.split("---\n", 2)
    assert "  - split: train\n    path: train.parquet\n  - split: test\n" in header
    assert "size_categories:\n- 1K<n<10K\n" in header
    assert "1,505 programs" in text
    assert text.index("| MIT | 1,503 |") < text.index("| GPL-2+ or/MIT | 2 |")
    assert "| zlib | 1.0 | Zlib | train |" in text
    assert "compiled with clang 22, -Oz" in text
    assert "`split, cluster`" in text


def test_the_card_of_a_dataset_without_packages_says_nothing_of_splits() -> None:
    parts = [ExportedSplit("all", Counter({f"L{n}": 1 for n in range(40)}))]
    card = write_card(Words("words-v0", ["a"]), parts, [])
    assert "## Splits" not in card
    assert "cluster" not in card
    assert "has 10 more" in card
    assert "n<1K" in card
