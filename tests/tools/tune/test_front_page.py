# SPDX-License-Identifier: MIT
"""A front is drawn, and every build of it is listed."""

from compiler_gym.tools.tune.page import page
from compiler_gym.tools.tune.summary import FrontRow
from tests.tools.tune.summaries import SUMMARY, with_binary
from tests.tools.tune.test_page import read


def test_a_front_is_drawn_and_listed_with_the_recommended_build_in_bold() -> None:
    speeds = [{"speedup": 0.9, "low": 0.85, "high": 0.95}, {"speedup": 1.2}]
    rows = tuple(
        FrontRow(name, f"front/{name}/tool", f"front/{name}.toml", code, speed, name == "b<")
        for name, code, speed in zip(("a", "b<"), (700, 950), speeds, strict=True)
    )
    reader = read(page(with_binary(front=rows)))
    circles = [attrs["class"] for tag, attrs in reader.tags if tag == "circle"]
    assert circles == ["before", "new", "after"]
    for said in ("22.2 % smaller", "0.850 to 0.950", "1.200", "front/a.toml", "baseline", "b<"):
        assert said in reader.text
    assert not any(attrs.get("class") == "plot" for _, attrs in read(page(SUMMARY)).tags)
