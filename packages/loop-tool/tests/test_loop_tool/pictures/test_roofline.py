# SPDX-License-Identifier: MIT
"""The roofline shows the nest under its roof."""

from xml.etree import ElementTree

from compiler_gym_loop_tool.pictures import roofline_svg, roofline_text

FACTS = {"gflops": 20.0, "peak": 80.0, "bandwidth": 10.0, "intensity": 4.0, "roof": 40.0}


def test_a_star_is_below_the_slope() -> None:
    lines = roofline_text(FACTS).splitlines()
    assert lines[0].startswith("20 GFLOPS, 50% of the 40 possible at 4 operations per byte")
    rows = lines[1:-1]
    (star,) = [(at, row.index("*")) for at, row in enumerate(rows) if "*" in row]
    above = [row[star[1]] for row in rows[: star[0]] if len(row) > star[1]]
    assert "/" in above
    assert "peak 80 GFLOPS, 10 GB/s" in lines[-1]
    assert [row.split()[0] for row in rows if "┤" in row] == ["80", "20"]


def test_a_small_share_is_not_none() -> None:
    assert "0.2% of" in roofline_text({**FACTS, "gflops": 0.08})


def test_the_svg_is_one() -> None:
    root = ElementTree.fromstring(roofline_svg(FACTS))
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 1


def test_nests_from_before_are_rings_and_numbers_stand_at_the_axes() -> None:
    text = roofline_svg(FACTS, before=(2.0, 5.0))
    root = ElementTree.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    rings = [one for one in root.iter(f"{svg}circle") if one.get("fill") == "#ffffff"]
    assert len(rings) == 2
    words = [one.text for one in root.iter(f"{svg}text")]
    assert {"2", "5", "this nest: 20", "peak 80 GFLOPS", "GFLOPS", "10"} <= set(words)


def test_every_text_and_the_ground_have_a_colour() -> None:
    """A page may be dark: nothing is left to what is around the picture."""
    root = ElementTree.fromstring(roofline_svg(FACTS))
    for one in root.iter():
        if one.tag.endswith(("text", "circle")):
            assert one.get("fill"), one.text
    assert next(one for one in root if one.tag.endswith("path")).get("fill") == "#fcfcfa"
