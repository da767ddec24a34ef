# SPDX-License-Identifier: MIT
"""ghostscript against the real Ghostscript: what programs print, and what their pages look like."""

from pathlib import Path
from typing import Any

import pytest

from tests.loading import load_script

from .conftest import PROGRAMS, Execute, cases

PAGE = ("-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=ppmraw", "-r72")
SMOOTH = ("-dGraphicsAlphaBits=4", "-dTextAlphaBits=4")


ps = load_script(PROGRAMS / "ghostscript" / "cases.py", "ps_cases")


def _read_ppm(path: Path) -> tuple[int, int, bytes]:
    """The first page of a raw PPM file; comments are passed over."""
    data = path.read_bytes()
    fields: list[bytes] = []
    at = 0
    while len(fields) < 4:
        end = data.index(b"\n", at)
        line = data[at:end]
        at = end + 1
        if not line.startswith(b"#"):
            fields += line.split()
    width, height = int(fields[1]), int(fields[2])
    return width, height, data[at : at + width * height * 3]


def _mean_difference(ours: Path, theirs: Path) -> float:
    """Mean absolute difference of the samples of two pages, of 255."""
    a, b = _read_ppm(ours), _read_ppm(theirs)
    assert a[:2] == b[:2]
    return sum(abs(x - y) for x, y in zip(a[2], b[2], strict=True)) / len(a[2])


@pytest.fixture
def both(execute: Execute, tool: Any, tmp_path: Path) -> Any:
    """Run a program in both interpreters and return what each printed."""

    def run_both(program: str, *options: str) -> tuple[str, str]:
        # Not a name that the real one has in its own library.
        (tmp_path / "in_test.ps").write_text(program, encoding="latin-1")
        ours = execute("ghostscript", *options, "-sOutputFile=ours.ppm", "in_test.ps")
        theirs = tool(
            "gs", *options, "-sOutputFile=theirs.ppm", "in_test.ps", package="ghostscript"
        )
        return ours.decode("latin-1"), theirs.decode("latin-1")

    return run_both


# CMYK is left out: the real one converts it by a colour profile.
DRAWINGS = {
    "polygons": 3.5,
    "lines": 2.0,
    "arcs": 2.0,
    "images": 2.5,
    "fractal": 1.0,
    "curve": 1.5,
    "clips": 3.5,
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_pages_look_like_the_real_one_s(name: str, both: Any, tmp_path: Path) -> None:
    draw = getattr(ps, name)
    for seed in range(4):
        program = draw(cases.Random(seed), 1)
        program = "/setcmykcolor { pop setrgbcolor } def\n" + program.replace(
            "true 4 colorimage", "true 4 pop pop 7 { pop } repeat"
        )
        both(f"%!PS\n{program}", *PAGE, "-g200x200", *SMOOTH)
        assert _mean_difference(tmp_path / "ours.ppm", tmp_path / "theirs.ppm") < DRAWINGS[name]


def test_a_type_3_font_is_drawn_as_the_real_one_draws_it(both: Any, tmp_path: Path) -> None:
    program = """%!PS
8 dict dup begin /FontType 3 def /FontMatrix [0.001 0 0 0.001 0 0] def /FontBBox [0 0 1000 1000] def
/Encoding 256 array def 0 1 255 { Encoding exch /.notdef put } for Encoding 97 /square put Encoding 98 /disc put
/BuildGlyph { 1000 0 0 0 1000 1000 setcachedevice exch pop
  /square eq { 0 0 800 800 rectfill } { 400 400 400 0 360 arc fill } ifelse } def
end /Shapes exch definefont pop
/Shapes findfont 30 scalefont setfont 10 10 moveto 20 rotate 5 0 (abab) ashow currentpoint round == round ==
showpage"""
    ours, theirs = both(program, *PAGE, "-g200x200", *SMOOTH)
    assert ours == theirs
    assert _mean_difference(tmp_path / "ours.ppm", tmp_path / "theirs.ppm") < 1.0


PRINTING = [
    "3 4 add == 10 3 div == 7 2 idiv == -7 3 mod == 2 0.5 exp == 100 log == 1 1 atan == 45 sin ==",
    "2.5 round == -2.5 round == 3.7 truncate == -3.2 floor == -3.2 ceiling == 16 sqrt == 0 cos ==",
    "16#ff == 8#777 == 1e3 == -.5 == 1.0 == .00001 == 1e10 == 123456789 0.1 mul ==",
    r"<48656c6c6f> == <~87cURD]i,~> == (a\(b\)c\n\101\
z) == (nested (paren)) == () ==",
    "{1 0 div} stopped == $error /errorname get == clear {pop} stopped == $error /errorname get ==",
    "<< /a 1 /b (x) >> dup /a get == /b known == 5 dict maxlength == /x 5 def x == /x load == { x y } ==",
    "(hello world) ( ) search {== == ==} if (abc) (b) anchorsearch == == (abcdef) 2 3 getinterval ==",
    "[1 2 3 4] 1 2 getinterval == (abcdef) dup 2 (XY) putinterval == [1 2 3] {2 mul} forall count == clear",
    "1 2 3 4 5 5 2 roll == == == == == 1 2 3 3 copy == == == == == == (a) (b) exch == ==",
    "mark 1 2 3 counttomark == cleartomark [3 1 2] aload pop == == == 1 2 3 2 index == == == ==",
    "12345 10 string cvs == 255 16 10 string cvrs == (3.5) cvr == (42) cvi == /abc 3 string cvs == (x y) cvn ==",
    "save /q 1 def restore /q where {pop (yes)} {(no)} ifelse == 0 1 5 {==} for 1 -0.25 0 {==} for",
    "true false and == 5 3 xor == 1 4 bitshift == 256 -4 bitshift == 5 not == (a) (b) lt == 1 1.0 eq ==",
    "matrix == [2 0 0 4 10 20] matrix invertmatrix == 1 1 [2 0 0 3 10 20] transform == == 90 matrix rotate ==",
    "{ (loop) == exit } loop 3 { (r) print } repeat (\n) print { stop } stopped == /a /b ne == null == mark ==",
    "(12 (x) /y {z} rest) { token { == } { exit } ifelse } loop (1 2 add) cvx exec == [ 1 (a) /n ] ==",
    "1 type == 1.5 type == (s) type == /n type == [ ] type == { } type == true type == null type == mark type ==",
    "/a [1 2 3] readonly def a wcheck == a rcheck == { a 0 9 put } stopped == /f {1 add} bind def 4 f == {dup mul} xcheck ==",
    "currentfile 40 string readline\nthis line is data\n== == currentfile 4 string readhexstring\n00 ff 10 20 == ==",
    "currentfile /ASCIIHexDecode filter 5 string readstring\n68656c6c6f> == == 17 srand 1 { rand 0 gt == } repeat",
    "0.2 0.4 0.8 setrgbcolor currentgray 100 mul round == currentcmykcolor == == == == 0.5 setgray currentrgbcolor == == ==",
    "10 20 moveto 30 40 lineto currentpoint == == pathbbox == == == == 5 setlinewidth currentlinewidth == currentmiterlimit ==",
    "newpath 0 0 moveto 10 0 lineto 10 10 lineto closepath 8 3 infill == 2 8 infill == /z 1 dict def z begin countdictstack 0 gt == end",
]  # fmt: skip


@pytest.mark.parametrize("source", PRINTING)
def test_values_are_computed_and_printed_as_by_the_real_one(source: str, both: Any) -> None:
    ours, theirs = both(f"%!PS\n{source}\n", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=ppmraw")
    assert ours == theirs


def test_sorting_sieving_and_counting_words_print_what_the_real_one_prints(both: Any) -> None:
    for seed in range(3):
        ours, theirs = both(f"%!PS\n{ps.data(cases.Random(seed), 1)}", *PAGE)
        assert ours == theirs


@pytest.mark.parametrize("kind", range(14))
def test_uncaught_errors_end_the_program_by_their_names(
    kind: int, execute: Execute, tmp_path: Path
) -> None:
    (tmp_path / "in.ps").write_text(f"%!PS\n{ps.error(kind)}")
    if kind in (10,):
        execute("ghostscript", "-q", "in.ps", status=0)
        return
    said = execute("ghostscript", "-q", "in.ps", status=1).decode()
    assert kind == 12 or said.startswith("Error: /")


def test_a_page_without_smoothing_is_all_black_and_white(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in.ps").write_text("%!PS\n50 50 30 0 360 arc fill showpage")
    execute("ghostscript", "-q", "-sDEVICE=ppmraw", "-g100x100", "-sOutputFile=out.ppm", "in.ps")
    _, _, pixels = _read_ppm(tmp_path / "out.ppm")
    assert set(pixels) == {0, 255}
    area = pixels.count(0) / 3
    assert abs(area - 3.14159 * 30 * 30) < 15


@pytest.mark.parametrize("kind", ["pbm", "pgm", "ppm", "pbmraw", "pgmraw", "ppmraw"])
def test_pillow_reads_every_output_format(kind: str, execute: Execute, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs pillow")
    (tmp_path / "in.ps").write_text("%!PS\n0 0 20 40 rectfill showpage")
    execute("ghostscript", "-q", f"-sDEVICE={kind}", "-g37x40", "-sOutputFile=out.pnm", "in.ps")
    with image.open(tmp_path / "out.pnm") as page:
        grey = page.convert("L")
        assert grey.size == (37, 40)
        assert [grey.getpixel((x, 20)) for x in (0, 19, 20, 36)] == [0, 0, 255, 255]


def test_grey_is_dithered_to_its_share_of_black(execute: Execute, tmp_path: Path) -> None:
    for level in (0.1, 0.25, 0.5, 0.9):
        (tmp_path / "in.ps").write_text(f"%!PS\n{level} setgray 0 0 64 64 rectfill showpage")
        execute("ghostscript", "-q", "-sDEVICE=pbmraw", "-g64x64", "-sOutputFile=o.pbm", "in.ps")
        bits = (tmp_path / "o.pbm").read_bytes()[len(b"P4\n64 64\n") :]
        black = sum(byte.bit_count() for byte in bits) / 4096
        assert abs(black - (1 - level)) < 0.02


def test_resolution_scales_the_page(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in.ps").write_text("%!PS\n<< /PageSize [72 36] >> setpagedevice showpage")
    execute("ghostscript", "-q", "-r150x300", "-sOutputFile=out.ppm", "in.ps")
    assert _read_ppm(tmp_path / "out.ppm")[:2] == (150, 150)
