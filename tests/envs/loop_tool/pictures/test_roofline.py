# SPDX-License-Identifier: MIT
"""The roofline shows the nest under its roof."""

from xml.etree import ElementTree

from compiler_gym.envs.loop_tool.pictures import roofline_svg, roofline_text

FACTS = {"gflops": 20.0, "peak": 80.0, "bandwidth": 10.0, "intensity": 4.0, "roof": 40.0}


def test_a_star_is_below_the_slope() -> None:
    lines = roofline_text(FACTS).splitlines()
    assert lines[0].startswith("20 GFLOPS, 50% of the 40 that are possible at 4 operations a byte")
    rows = lines[1:-1]
    (star,) = [(at, row.index("*")) for at, row in enumerate(rows) if "*" in row]
    above = [row[star[1]] for row in rows[: star[0]] if len(row) > star[1]]
    assert "/" in above
    assert "peak 80 GFLOPS, 10 GB/s" in lines[-1]


def test_the_svg_is_one() -> None:
    root = ElementTree.fromstring(roofline_svg(FACTS))
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 1
