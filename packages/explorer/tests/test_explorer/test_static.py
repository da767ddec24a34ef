# SPDX-License-Identifier: MIT
"""The built page is that of its sources, and small. Needs no browser and no node."""

import gzip
import hashlib
from pathlib import Path

from compiler_gym_explorer.app import STATIC

_SOURCES = Path(__file__).parents[2] / "web"
_ALONE = (
    "index.html", "package.json", "package-lock.json", "svelte.config.js", "tsconfig.json",
    "vite.config.ts",
)  # fmt: skip


def test_the_built_page_matches_the_sources_and_the_schema() -> None:
    files = [
        *(_SOURCES / name for name in _ALONE),
        *(path for part in ("src", "public") for path in (_SOURCES / part).rglob("*")),
    ]
    digest = hashlib.sha256()
    names = [path.relative_to(_SOURCES).as_posix() for path in files if path.is_file()]
    for name in sorted([*names, "../src/compiler_gym_explorer/schema.json"]):
        digest.update(f"{name}\0".encode() + (_SOURCES / name).read_bytes() + b"\0")
    built = (STATIC / "sources.sha256").read_text(encoding="utf-8").strip()
    assert digest.hexdigest() == built, "run: cd packages/explorer/web && npm ci && npm run build"


def test_the_page_is_at_most_a_megabyte() -> None:
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < 1 << 20


def test_the_page_asks_no_other_machine_for_its_parts() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert "http:" not in page
    assert "https:" not in page
