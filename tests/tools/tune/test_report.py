# SPDX-License-Identifier: MIT
"""The page stands alone, is well formed, and shows every number."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import (
    FunctionSize,
    ReportedDecision,
    Request,
    TuningJob,
    render_page,
    write_report,
)
from compiler_gym.tools.tune.report import page
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner
from tests.tools.tune.summaries import SUMMARY, with_binary

_VOID = {"meta", "rect", "line", "br", "circle", "polyline"}


class Reader(HTMLParser):
    """Collects text; every element must be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_needs_nothing_else() -> None:
    text = page(SUMMARY)
    reader = read(text)
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in reader.tags}
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", text)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_every_number_is_there() -> None:
    text = read(page(SUMMARY)).text
    assert "11.4 % smaller than clang -Oz -flto." in " ".join(text.split())
    for shown in (
        "1,000", "4,500", "20.4 % smaller", "+60", "-4", "option broken=true",
        "400 → 300", "10 → 30", "40 → gone", "new → 20", "make -j2", "seed 7", "src/other",
        "1,234 compilations", "function(sroa<modify-cfg>)", "450", "was not tested",
    ):  # fmt: skip
        assert shown in text, shown
    assert "linker -Wl,-x" in text  # what was not measured is not told


def test_a_decision_that_was_not_measured_is_named() -> None:
    text = read(page(SUMMARY)).text
    assert re.search(r"linker -Wl,-x\s*not measured", text), text
    decisions = (ReportedDecision("option a=b", None),)
    assert "not measured" in read(page(with_binary(decisions=decisions))).text
    timed = with_binary(decisions=decisions, speed={"speedup": 1.1, "low": 1.0, "high": 1.2})
    assert "not measured" not in read(page(timed)).text


def test_names_of_a_project_are_not_html() -> None:
    evil = "<script>alert(1)</script>"
    summary = replace(
        with_binary(
            name=evil, taken_back=(evil,), functions=(FunctionSize(evil, evil, 2, 1),), passes=evil,
            notes=(evil,),
        ),
        build=("sh", "-c", evil), check=evil, others=(evil,),
    )  # fmt: skip
    reader = read(page(summary))
    assert "script" not in {tag for tag, _ in reader.tags}
    assert evil in reader.text


def test_bars_are_never_wider_than_their_place() -> None:
    functions = tuple(FunctionSize(f"f{n}", "", n, 2 * n) for n in range(100))
    widths = re.findall(r'width="([\d.]+)%"', page(with_binary(functions=functions)))
    assert len(widths) >= 60
    assert max(map(float, widths)) == 100


def test_a_result_that_is_not_better_reports_it() -> None:
    text = read(page(with_binary(is_better=False, decisions=(), taken_back=()))).text
    assert "Found nothing better than clang -Oz -flto" in text
    assert "Gain from each decision" not in text


def test_speed_is_shown_with_its_confidence() -> None:
    speed = {"speedup": 1.05, "low": 1.02, "high": 1.081}
    text = read(page(replace(with_binary(speed=speed), goal="speed"))).text
    assert "1.050 times as fast as clang -Oz -flto (95 % interval 1.020 to 1.081)" in text


def test_a_decision_is_reported_in_a_sentence_with_a_link() -> None:
    decision = ReportedDecision("option x=1", 4, "Does <this>.", "https://example.org/a?b&c")
    text = page(with_binary(decisions=(decision,), steps={"sroa": "Splits structures."}))
    assert 'Does &lt;this&gt;. <a href="https://example.org/a?b&amp;c">More</a>' in text
    assert "Splits structures." in text


def test_a_page_is_whole_and_escapes_its_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own_pages" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "own.html").write_text(
        '{% extends "base.html" %}{% from "macros.html" import table %}'
        '{% block body %}{{ table(["Name", "Bytes"], ["name", "number"], rows) }}{% endblock %}'
    )
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    page = render_page("own.html", "own_pages", title="<b>", rows=[("a<", "1")])
    assert "<title>&lt;b&gt;</title>" in page
    assert "prefers-color-scheme: dark" in page
    assert '<th class="">Name</th><th class="number">Bytes</th>' in page
    assert '<tr><td class="name">a&lt;</td><td class="number">1</td></tr>' in page
    assert "</html>" in page


def test_page_and_json_are_written_or_refused(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    request = Request(("make",), project, tmp_path / "out", seconds=100.0)
    results = TuningJob(request, SimpleTuner("-Os")).run()
    summary = write_report(request, results, compiler="simple 1", others=[], is_interrupted=True)
    assert json.loads((request.output / "report.json").read_text()) == json.loads(
        json.dumps(summary.to_json())
    )
    page = (request.output / "report.html").read_text()
    assert "program" in page
    assert "stopped early" in page
    (tmp_path / "file").touch()
    lost = replace(request, output=tmp_path / "file")
    with pytest.raises(ProjectError, match="cannot write to"):
        write_report(lost, results, compiler="simple 1", others=[], is_interrupted=False)
