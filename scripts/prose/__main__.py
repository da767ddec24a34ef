# SPDX-License-Identifier: MIT
"""``python -m scripts.prose``: check the English of pages and sources.

python -m scripts.prose                 fail where a folder has more findings than before
python -m scripts.prose PATH ...        print each finding in these files and folders
python -m scripts.prose --write         store the counts that are left
"""

import argparse
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, engine, types
from proselint.tools import LintFile

from scripts.prose.texts import Kind, read_texts

__all__ = ["Finding", "Rules", "count_findings", "find_problems"]

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ALLOWED = HERE / "allowed.toml"
PLACES = ("*.md", "docs/**/*.md", "changelog.d/*.md", "packages/*/*.md", "packages/*/docs/**/*.md",
          "native/**/*.h", "native/**/*.cpp", "packages/**/*.h",
          *(f"{folder}/**/*.py" for folder in ("src", "packages", "examples", "agents", "docs",
                                               "benchmarks", "scripts", "tests")))  # fmt: skip
GENERATED = ("docs/reference/", "scripts/prose/rules.toml", "CHANGELOG.md")


class Finding(NamedTuple):
    """One problem: its place, the rule that found it and the advice."""

    path: Path
    line: int
    rule: str
    words: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: '{self.words}': {self.advice}"


class Rules:
    """The rules of `rules.toml`, registered with proselint."""

    def __init__(self, path: Path = HERE / "rules.toml") -> None:
        self.tables: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
        registry = CheckRegistry()
        registry.checks.clear()
        options = engine.RegexOptions(case_insensitive=True, multi_line=True)
        for name, rule in self.tables.items():
            kind = types.ExistenceSimple(pattern=rule["pattern"])
            check = Check(kind, engine.Fancy(options), f"ours.{name}", rule["message"])
            registry.register(check._replace(flags=CheckFlags(allow_quotes=True)))

    def check(self, text: str, kind: Kind) -> Iterator[tuple[int, str, str]]:
        """Yield the line, the rule and the words of each problem in `text`."""
        enabled = {
            f"ours.{name}": kind.value in rule.get("where", [kind.value])
            for name, rule in self.tables.items()
        }
        content = LintFile("text", text)
        for result in content.lint({"max_errors": 100_000, "checks": enabled}):
            start, end = result.check_result.span
            rule = result.check_result.check_path.removeprefix("ours.")
            line = content.content.count("\n", 0, start)
            yield line, rule, content.content[start:end].strip()


def find_problems(paths: Iterable[Path], rules: Rules) -> Iterator[Finding]:
    """Yield the problems in `paths`, files that `read_texts` reads."""
    for path in paths:
        for text in read_texts(path):
            if not text.content.strip():
                continue  # proselint cannot read an empty text
            for line, rule, words in rules.check(text.content, text.kind):
                advice = rules.tables[rule]["message"]
                yield Finding(path, text.line + max(line - 1, 0), rule, words, advice)


def list_files(places: Iterable[Path] = ()) -> list[Path]:
    """Return the files to check: those of `places`, or all of them."""
    if places := list(places):
        below = (path for place in places for path in (place, *sorted(place.rglob("*"))))
        return [path for path in below if path.suffix in {".md", ".py", ".h", ".cpp"}]
    every = {path for pattern in PLACES for path in ROOT.glob(pattern)}
    names = {path: path.relative_to(ROOT).as_posix() for path in every}
    return sorted(path for path, name in names.items() if not name.startswith(GENERATED))


def count_findings(findings: Iterable[Finding]) -> Counter[str]:
    """Return the number of findings in each folder, two levels deep below a package."""
    counts: Counter[str] = Counter()
    for finding in findings:
        parts = finding.path.relative_to(ROOT).parent.parts
        depth = 4 if parts[:1] in {("src",), ("packages",)} else 2
        counts["/".join(parts[:depth]) or "."] += 1
    return counts


def main() -> int:
    """Read the command line, print findings and return the exit status."""
    parser = argparse.ArgumentParser(prog="scripts.prose", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--write", action="store_true", help="store the counts that are left")
    options = parser.parse_args()
    findings = list(find_problems(list_files(options.paths), Rules()))
    if options.paths:
        print(*findings, f"{len(findings)} problems", sep="\n")
        return bool(findings)
    counts = count_findings(findings)
    if options.write:
        lines = [f'"{folder}" = {count}\n' for folder, count in sorted(counts.items())]
        comment = "# Findings that are left, for each folder. A count may fall, never rise.\n"
        ALLOWED.write_text(comment + "".join(lines), encoding="utf-8")
        return 0
    allowed = tomllib.loads(ALLOWED.read_text(encoding="utf-8"))
    risen = {folder for folder, count in counts.items() if count > allowed.get(folder, 0)}
    for folder in sorted(risen):
        print(f"{folder}: {counts[folder]} problems, {allowed.get(folder, 0)} are allowed; "
              f"list them with: python -m scripts.prose {folder}")  # fmt: skip
    return bool(risen)


if __name__ == "__main__":
    raise SystemExit(main())
