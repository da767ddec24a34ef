# SPDX-License-Identifier: MIT
"""Inputs of ghostscript: PostScript programs that draw, compute, read their own text and fail."""

from collections.abc import Callable

from _cases import Case, Random, prose

__all__ = ["COUNTS", "PROGRAMS", "case"]

COUNTS = {"test": 48, "small": 6, "ref": 3}


def _number(rng: Random, low: int, high: int) -> str:
    return f"{rng.between(low * 10, high * 10) / 10:g}"


def _color(rng: Random) -> str:
    kind = rng.below(4)
    if kind == 0:
        return f"{rng.below(101) / 100:g} setgray"
    count, name = ((3, "setrgbcolor"), (3, "sethsbcolor"), (4, "setcmykcolor"))[kind - 1]
    return " ".join(f"{rng.below(101) / 100:g}" for _ in range(count)) + f" {name}"


def polygons(rng: Random, scale: int) -> str:
    """Filled and stroked shapes of straight lines and curves, some with holes."""
    out = []
    for _ in range(8 * scale):
        out.append(f"{_color(rng)} newpath {rng.below(200)} {rng.below(200)} moveto")
        for _ in range(rng.between(2, 9)):
            if rng.chance(1, 3):
                points = " ".join(_number(rng, -20, 220) for _ in range(6))
                out.append(f"{points} curveto")
            elif rng.chance(1, 3):
                out.append(f"{_number(rng, -60, 60)} {_number(rng, -60, 60)} rlineto")
            else:
                out.append(f"{_number(rng, -20, 220)} {_number(rng, -20, 220)} lineto")
        out.append(
            rng.choice(
                (
                    "fill",
                    "closepath eofill",
                    "closepath stroke",
                    "gsave fill grestore 0 setgray stroke",
                )
            )
        )
    return "\n".join(out) + "\nshowpage\n"


def lines(rng: Random, scale: int) -> str:
    """Joins, caps, dashes, miter limits and widths, under a skewed coordinate system."""
    out = ["gsave [1 0.2 -0.3 0.9 30 5] concat"]
    for i in range(6 * scale):
        dashes = " ".join(str(rng.between(0, 12) + (k == 0)) for k in range(rng.below(4)))
        out.append(f"{_color(rng)} {rng.below(3)} setlinecap {rng.below(3)} setlinejoin")
        out.append(f"{_number(rng, 1, 12)} setmiterlimit {_number(rng, 0, 14)} setlinewidth")
        out.append(f"[{dashes}] {_number(rng, -5, 30)} setdash")
        out.append(
            f"{rng.below(180)} {rng.below(180)} moveto {rng.below(180)} {rng.below(180)} lineto"
        )
        out.append(
            f"{rng.below(180)} {rng.below(180)} lineto {rng.choice(('', 'closepath'))} stroke"
        )
        if i % 3 == 0:
            out.append(f"newpath {rng.below(180)} {rng.below(180)} moveto 0 0 rlineto stroke")
    out.append(
        "currentdash == == currentlinewidth == currentlinecap == currentlinejoin == currentmiterlimit =="
    )
    return "\n".join(out) + "\ngrestore showpage\n"


def arcs(rng: Random, scale: int) -> str:
    """Arcs both ways, arcto, flatness and paths taken apart again."""
    out = []
    for _ in range(5 * scale):
        centre = f"{rng.below(200)} {rng.below(200)} {rng.between(5, 60)} {rng.below(720) - 360} {rng.below(720) - 360}"
        out.append(
            f"newpath {_color(rng)} {centre} {rng.choice(('arc', 'arcn'))} {rng.choice(('fill', 'stroke'))}"
        )
    out.append(
        "newpath 20 20 moveto 150 20 150 150 25 arcto 4 array astore == 150 180 lineto 20 180 20 90 arct-test"
    )
    out.insert(0, "/arct-test { 30 arct stroke } def 2 setflat currentflat ==")
    out.append(
        "newpath 100 100 30 0 270 arc closepath 10 10 moveto 5 5 rlineto reversepath pathbbox 4 array astore =="
        " { exch round cvi == round cvi == (m) == } { pop pop (l) == }"
        " { 6 {pop} repeat (c) == } {(z) ==} pathforall flattenpath stroke"
    )
    return "\n".join(out) + "\nshowpage\n"


def text(rng: Random, scale: int) -> str:
    """Lines of text in every face, spaced, turned, outlined and used as a clip."""
    faces = [
        "Helvetica",
        "Times-Italic",
        "Courier-Bold",
        "Times-Bold",
        "Helvetica-BoldOblique",
        "Unknown",
    ]
    words = prose(rng, 400 * scale).decode().replace("\n", " ").split()
    out = []
    for i in range(5 * scale):
        part = " ".join(words[i * 4 : i * 4 + 4])
        out.append(
            f"/{rng.choice(faces)} findfont {rng.between(6, 22)} scalefont setfont {_color(rng)}"
        )
        out.append(
            f"gsave {rng.below(60)} {rng.below(190)} translate {rng.between(-30, 30)} rotate 0 0 moveto"
        )
        ways = (
            f"({part}) show",
            f"1 0.5 ({part}) ashow",
            f"3 0 32 ({part}) widthshow",
            f"2 0 101 0.5 -0.1 ({part}) awidthshow",
            f"{{ pop 97 eq {{ 0 2 rmoveto }} if }} ({part}) kshow",
            f"({part[:5]}) [ 10 10 10 10 10 ] xshow /A glyphshow",
            f"({part}) stringwidth == == ({part}) false charpath 0.3 setlinewidth stroke",
        )
        out.append(rng.choice(ways) + " grestore")
    out.append("gsave /Helvetica-Bold 70 selectfont 10 60 moveto (Clip) true charpath clip newpath")
    out.append("0 4 200 { dup 0 moveto 60 add 200 lineto 2 setlinewidth stroke } for grestore")
    out.append("/Courier [20 0 5 12 0 0] selectfont 5 5 moveto (matrix) show currentpoint == ==")
    return "\n".join(out) + "\nshowpage\n"


def _hex(data: bytes) -> str:
    return "\n".join(data.hex()[i : i + 64] for i in range(0, len(data) * 2, 64))


def images(rng: Random, scale: int) -> str:
    """Sampled images of 1 to 12 bits from procedures, strings and the program itself."""
    side = 6 + 2 * scale
    out = [f"/row {side} string def /rgb {side * 3} string def"]
    for bits in (1, 2, 4, 8, 12):
        data = rng.data((side * bits + 7) // 8 * side)
        out.append(
            f"gsave {rng.below(120)} {rng.below(120)} translate {rng.below(360)} rotate 60 70 scale"
        )
        out.append(
            f"/data <{_hex(data)}> def {side} {side} {bits} [{side} 0 0 -{side} 0 {side}] {{data}} image grestore"
        )
    out.append("gsave 100 100 translate 80 80 scale 0.1 0.5 0.2 setrgbcolor")
    out.append(
        f"16 4 {rng.choice(('true', 'false'))} [16 0 0 4 0 0] <{_hex(rng.data(8))}> imagemask grestore"
    )
    out.append("gsave 10 120 translate 70 70 scale")
    out.append(
        f"{side} {side} 8 [{side} 0 0 {side} 0 0] {{currentfile rgb readhexstring pop}} false 3 colorimage"
    )
    out.append(_hex(rng.data(side * side * 3)) + "\ngrestore")
    out.append("gsave 120 10 translate 60 60 scale")
    planes = " ".join(f"{{<{_hex(rng.data(16))}>}}" for _ in range(4))
    out.append(f"4 4 8 [4 0 0 4 0 0] {planes} true 4 colorimage grestore")
    out.append(
        "gsave [/Indexed /DeviceRGB 3 <ff0000 00ff00 0000ff ffff00>] setcolorspace 60 60 scale"
    )
    out.append("<< /ImageType 1 /Width 4 /Height 4 /BitsPerComponent 2 /ImageMatrix [4 0 0 4 0 0]")
    out.append(f"/Decode [0 3] /DataSource <{_hex(rng.data(4))}> >> image grestore")
    out.append("gsave 70 70 translate 40 40 scale /DeviceRGB setcolorspace")
    out.append("<< /ImageType 1 /Width 2 /Height 2 /BitsPerComponent 8 /ImageMatrix [2 0 0 2 0 0]")
    out.append("/Decode [1 0 0 1 0 1] /DataSource currentfile /ASCIIHexDecode filter >> image")
    out.append(_hex(rng.data(12)) + ">\ngrestore")
    return "\n".join(out) + "\nshowpage\n"


def filters(rng: Random, scale: int) -> str:
    """The three filters and every operator that reads the running program."""
    import base64

    coded = base64.a85encode(rng.data(40 * scale)).decode()
    return f"""
/show-all {{ {{ dup read {{ 16 3 string cvrs print ( ) print }} {{ pop exit }} ifelse }} loop () = }} def
currentfile /ASCII85Decode filter show-all
{coded}~>
<05 68656c6c6f21 fb 2e 80> /RunLengthDecode filter show-all
(48 65 6c 6C 6f 2>) /ASCIIHexDecode filter dup show-all status ==
/line 100 string def
currentfile line readline
{rng.bits64()} (not a token
== ==
currentfile 10 string readstring
0123456789== ==
currentfile line 0 6 getinterval readhexstring
00 11 2233 zz 4455 == ==
currentfile token
{{ a {{ b }} (c) }} == ==
(12 (x) /y {{z}} rest) {{ token {{ == }} {{ exit }} ifelse }} loop
currentfile bytesavailable 0 gt ==
(%stdout) (w) file dup (written\\n) writestring dup 65 write dup <00ff> writehexstring closefile
/AB cvx type == /name 12 string cvs == 1 2 3 pstack stack clear
{{ currentfile /NoFilter filter }} stopped == $error /errorname get == clear
(1 2 add ==) cvx exec (3 4 mul) cvx exec ==
currentfile flushfile
this is never read
"""


def fractal(rng: Random, scale: int) -> str:
    """A tree drawn by a recursive procedure, one gsave a branch."""
    return f"""
/branch {{ % depth length
  1 dict begin /len exch def /depth exch def
  0 0 moveto 0 len lineto depth 2 div setlinewidth
  {rng.below(60) / 100} depth 10 div 0.6 sethsbcolor stroke
  depth 0 gt {{
    gsave 0 len translate {rng.between(20, 35)} rotate depth 1 sub len 0.{rng.between(66, 78)} mul branch grestore
    gsave 0 len translate -{rng.between(15, 40)} rotate depth 1 sub len 0.7 mul branch grestore
  }} if end
}} def
100 5 translate {min(3 + scale, 14)} 50 branch showpage
"""


def curve(rng: Random, scale: int) -> str:
    """A Hilbert curve by rewriting, and a sine and a logarithm plotted over axes."""
    order = min(2 + scale, 8)
    return f"""
/turn {{ heading add 360 mod /heading exch store }} def /heading 0 def
/step {{ heading cos unit mul heading sin unit mul rlineto }} def
/hilbert {{ % level angle
  2 copy pop 0 gt {{
    exch 1 sub exch
    dup turn 2 copy neg hilbert step dup neg turn 2 copy hilbert step
    2 copy hilbert dup neg turn step 2 copy neg hilbert dup turn
  }} if pop pop
}} def
/unit 180 2 {order} exp 1 sub div def
10 10 moveto {order} 90 hilbert 0.7 setlinewidth {_color(rng)} stroke
0 0 1 setrgbcolor 0 100 moveto
1 1 200 {{ dup {rng.between(1, 9)} mul sin 60 mul 100 add lineto }} for stroke
1 0 0 setrgbcolor 1 50 moveto 2 {rng.between(1, 5)} 200 {{ dup ln 20 mul 50 add lineto }} for stroke
1 0.5 0 setrgbcolor 0 0 moveto 0 5 200 {{ dup 200 div 2.5 exp 200 mul lineto }} for stroke
0 setgray 0 20 200 {{ dup 0 moveto 0 5 rlineto stroke 0 exch moveto 5 0 rlineto stroke }} for
showpage
"""


def clips(rng: Random, scale: int) -> str:
    """Clips inside clips, by both rules, undone by grestore."""
    out = []
    for _ in range(2 * scale):
        out.append(
            f"gsave newpath {rng.below(200)} {rng.below(200)} {rng.between(30, 90)} 0 360 arc clip newpath"
        )
        out.append(f"{_color(rng)} 0 0 200 200 rectfill gsave")
        out.append(
            " ".join(
                f"{rng.below(200)} {rng.below(200)} {'lineto' if i else 'moveto'}" for i in range(5)
            )
        )
        out.append(f"eoclip newpath {_color(rng)} clippath fill")
        out.append("0 6 200 { 0 exch moveto 200 0 rlineto } for 0 setgray stroke grestore")
        out.append(
            f"[{rng.below(150)} {rng.below(150)} 40 9 {rng.below(150)} {rng.below(150)} 8 50] rectclip"
        )
        out.append(
            f"{_color(rng)} clippath pathbbox 4 {{ round cvi 4 string cvs print ( ) print }} repeat () = fill grestore"
        )
    return "\n".join(out) + "\ninitclip 20 20 160 160 rectstroke showpage\n"


def patterned_font(rng: Random, scale: int) -> str:
    """Type 3 fonts: by code and by glyph name, with a changed encoding."""
    return f"""
8 dict dup begin /FontType 3 def /FontMatrix [0.001 0 0 0.001 0 0] def /FontBBox [0 0 1000 1000] def
/Encoding 256 array def 0 1 255 {{ Encoding exch /.notdef put }} for
Encoding 97 /square put Encoding 98 /disc put Encoding 99 /star put
/CharProcs 5 dict dup begin /.notdef {{ }} def
  /square {{ 0 0 800 800 rectfill }} def /disc {{ 400 400 400 0 360 arc fill }} def
  /star {{ 400 800 moveto 4 {{ 144 rotate 0 700 rlineto }} repeat closepath eofill }} def end def
/BuildGlyph {{ 1000 0 0 0 1000 1000 setcachedevice exch /CharProcs get exch get exec }} def
end /Shapes exch definefont pop
6 dict dup begin /FontType 3 def /FontMatrix [0.01 0 0 0.01 0 0] def /Encoding StandardEncoding def
/BuildChar {{ exch pop dup 20 mod 40 add 0 setcharwidth 20 mod 2 mul dup 20 moveto 10 50 lineto 3 setlinewidth stroke }} def
end /Ticks exch definefont pop
/Shapes findfont {rng.between(20, 40)} scalefont setfont {_color(rng)} 10 150 moveto (abcab) show (abc) stringwidth == ==
/Ticks findfont 30 scalefont setfont 10 100 moveto ({prose(rng, 12 * scale).decode().split(chr(10))[0]}) show currentpoint == ==
/Shapes 25 selectfont 10 20 moveto gsave 20 rotate /star glyphshow /disc glyphshow grestore
/Helvetica findfont dup length dict copy dup /Encoding 256 array dup 0 1 255 {{ /A put dup }} for pop put
/AllA exch definefont 30 scalefont setfont 100 20 moveto (xyz) show
{{ /Broken << /FontType 3 >> definefont }} stopped == $error /errorname get ==
{{ 1 2 3 4 5 6 setcachedevice }} stopped ==
currentfont /FontName known == /AllA undefinefont FontDirectory /AllA known == showpage
"""


def numbers(rng: Random, scale: int) -> str:
    """Arithmetic with every operator, over random and extreme operands."""
    values = [str(rng.between(-50, 50)) for _ in range(3)] + [_number(rng, -9, 9) for _ in range(3)]
    values += ["0", "2147483647", "-2147483648", "1e20", "-0.5", "1.5", "16#7F"]
    out = ["/try { { cvx exec } stopped { pop $error /errorname get == clear } { == } ifelse } def"]
    for operator in (
        "add",
        "sub",
        "mul",
        "div",
        "idiv",
        "mod",
        "atan",
        "exp",
        "eq",
        "lt",
        "ge",
        "gt",
        "le",
        "ne",
    ):
        for _ in range(2 * scale):
            out.append(f"{{ {rng.choice(values)} {rng.choice(values)} {operator} }} try")
    for operator in (
        "neg",
        "abs",
        "ceiling",
        "floor",
        "round",
        "truncate",
        "sqrt",
        "sin",
        "cos",
        "ln",
        "log",
        "cvi",
        "not",
    ):
        for _ in range(2 * scale):
            out.append(f"{{ {rng.choice(values)} {operator} }} try")
    out.append(
        "{ 5 3 and 5 3 or 5 3 xor 1 40 bitshift -8 -1 bitshift true false xor true not 7 array astore } try"
    )
    out.append(
        f"{rng.below(1000)} srand rand rand rrand == == == (abc) (abd) le == (b) (abc) gt =="
    )
    out.append(
        "(12.5e2) cvr == (8#17) cvi == 3.99 cvi == 65535 16 8 string cvrs == 12.75 10 8 string cvrs =="
    )
    out.append("3 -1 1 { == } for 0 .25 1 { == } for")
    return "\n".join(out) + "\n"


def data(rng: Random, scale: int) -> str:
    """Arrays, strings and dictionaries, sorting, a sieve and a word count."""
    items = " ".join(str(rng.below(1000)) for _ in range(20 * scale))
    words = prose(rng, 120 * scale).decode().replace("\n", " ")
    return f"""
/sort {{ % array
  /a exch def 0 1 a length 2 sub {{ /i exch def i 1 add 1 a length 1 sub {{ /j exch def
    a i get a j get gt {{ a i a j get a j a i get put put }} if }} for }} for a }} def
[{items}] sort ==
/sieve {{ /n exch def /flags n 1 add array def 2 1 n {{ flags exch true put }} for
  2 1 n sqrt cvi {{ dup flags exch get {{ dup dup mul exch n {{ flags exch false put }} for }} {{ pop }} ifelse }} for
  [ 2 1 n {{ dup flags exch get not {{ pop }} if }} for ] }} def {50 * scale} sieve dup length == ==
/words 100 dict def ({words})
{{ ( ) search {{ exch pop dup words exch known {{ dup words exch get 1 add }} {{ 1 }} ifelse words 3 1 roll put }}
  {{ pop exit }} ifelse }} loop
0 words {{ exch pop add }} forall == words length == words /the known ==
mark [1 2 [3 4] (five) /six] aload pop counttomark == cleartomark
/d 3 dict def d begin /x 1 def /y 2 def currentdict end /x get == d /y undef d length == d maxlength ==
(abcdef) dup 2 (ZZ) putinterval dup == 1 3 getinterval == (prefix-rest) (prefix) anchorsearch {{ == == }} if
[1 2 3 4 5] dup 1 [9 8] putinterval == 7 array dup 0 [1 2 3] putinterval == [1 2 3] [4 5 6 7] copy ==
<< /a << /b [ {{ 1 add }} (s) true null ] >> >> /a get /b get == {{ x (y) /z 1.5 [ ] }} ==
1 2 3 4 5 3 -1 roll == 4 3 roll 2 index == count == clear
"""


def packing(rng: Random, scale: int) -> str:
    """Access rights, packed arrays, save and restore, binding and the dictionary stack."""
    return f"""
/try {{ stopped {{ $error /errorname get == clear }} if }} def
true setpacking /p {{ 1 2 add }} def false setpacking /p load type == {{ /p load 0 9 put }} try p ==
1 2 3 3 packedarray dup wcheck == 0 get == currentpacking ==
[1 2] readonly dup rcheck == dup wcheck == {{ 0 5 put }} try
{{ (x) noaccess 0 get }} try {{ [1] executeonly 0 get }} try (r) executeonly type == 2 dict readonly {{ /a 1 put }} try
/v 1 def /arr [1 2 3] def /s save def /v {rng.below(100)} def arr 1 {rng.below(100)} put /w 5 def
10 setlinewidth 0.5 setgray gsave gsave s restore v == arr == /w where == currentlinewidth == currentgray ==
save save pop restore {{ 0 restore }} try
/b {{ 1 2 add }} bind def /add {{ sub }} def b == systemdict /add get type == userdict /add undef
countdictstack == 5 dict begin /inner 1 def countdictstack == 9 array dictstack length == cleardictstack countdictstack ==
{{ end }} try {{ 150 {{ 1 dict begin }} repeat }} try cleardictstack
{{ 1 1 3000 {{ }} for }} try count == clear {{ /f {{ f 1 }} def f }} try clear /g {{ dup 0 gt {{ 1 sub g }} if }} def
{300 * min(scale, 1)} g == /k 0 def {{ /k k 1 add def k 10 eq {{ exit }} if }} loop k ==
{{ exit }} try {{ 3 {{ stop }} repeat }} stopped == {{ quit-not-defined }} try
vmstatus pop pop == version type == languagelevel == 1 2 null mark {{ cvx exec }} try clear
/x 1 store /x 2 store x == currentdict /x get == /undefined-name {{ load }} try /x where {{ /x get == }} if
errordict /undefined {{ pop (custom handler) == }} put some-name another-name
1 (a) /n true null [ ] {{ }} 2 dict mark currentfile matrix {{ type == }} forall 11 {{ type == }} repeat
"""


def queries(rng: Random, scale: int) -> str:
    """Coordinate systems and colours asked back, and points tested against paths."""
    return f"""
/show4 {{ 4 array astore == }} def /show6 {{ matrix currentmatrix == }} def
{rng.between(1, 9)} {rng.between(1, 9)} translate 2 3 scale {rng.below(360)} rotate show6
3 4 transform 2 copy itransform 4 -2 roll dtransform idtransform show4
[1 2 3 4 5 6] [6 5 4 3 2 1] matrix concatmatrix == 30 matrix rotate == 2 2 matrix scale == 1 2 matrix translate ==
[0 0 0 0 1 1] {{ matrix invertmatrix }} stopped == clear initmatrix show6 matrix defaultmatrix ==
0.2 0.4 0.6 setrgbcolor currentrgbcolor currentgray show4 currenthsbcolor 3 array astore == currentcmykcolor show4
0.1 0.2 0.3 0.4 setcmykcolor currentrgbcolor currentgray show4 0.7 setgray currenthsbcolor 3 array astore ==
/DeviceCMYK setcolorspace currentcolor show4 0 0.5 0.5 0 setcolor currentcolorspace == currentgray ==
[/Indexed /DeviceGray 1 <40c0>] setcolorspace 1 setcolor currentgray == currentcolorspace ==
{{ /DeviceFoo setcolorspace }} stopped == clear {{ [/Indexed /DeviceRGB] setcolorspace }} stopped == clear
newpath 50 50 moveto 150 50 lineto 150 150 lineto 50 150 lineto closepath 75 75 moveto 50 0 rlineto 0 50 rlineto -50 0 rlineto closepath
{rng.below(200)} {rng.below(200)} infill 100 100 infill 100 100 ineofill 50 100 instroke == == == ==
reversepath strokepath pathbbox show4 gsave 0.3 setgray fill grestore
initgraphics {{ currentpoint }} stopped == clear
<< /PageSize [{rng.between(50, 120)} 80] >> setpagedevice currentpagedevice /PageSize get == 10 10 30 30 rectfill showpage
60 45 {{ dup mul neg }} setscreen true setstrokeadjust copypage erasepage
"""


def odds(rng: Random, scale: int) -> str:
    """What the other programs leave out: conversions, errors of every name, a growing dictionary."""
    return f"""
/try {{ stopped {{ $error /errorname get == clear }} if }} def
/lit cvx cvlit xcheck == (a name) cvn == (abc) /abc eq == /abc (abd) eq == flush realtime usertime eq ==
/many 2 dict def 0 1 {40 * scale} {{ dup 2 mul many 3 1 roll put }} for many {20 * scale} get == many length ==
0 1 {20 * scale} {{ many exch undef }} for many length == many (text) 1 put many /text get == many 1.0 known ==
gsave gsave 5 setlinewidth grestoreall currentlinewidth == matrix identmatrix == [2 0 0 2 5 5] setmatrix matrix currentmatrix ==
initmatrix newpath 50 50 moveto 10 30 40 30 {rng.between(40, 80)} 0 rcurveto 2 setlinewidth stroke
/Times-Bold 20 selectfont 20 150 moveto (wide) [ 22 20 18 16 ] xshow 20 120 moveto (up) [ 5 10 ] yshow
20 90 moveto (both) [ 12 2 12 -2 12 2 12 -2 ] xyshow {{ (long) [ 1 2 ] xshow }} try
{{ 1 setgray gsave save grestoreall restore }} try {{ 20 {{ save }} repeat }} try {{ (absent) (r) file }} try {{ (%stdout) (r) file }} try
{{ << /PageSize [9 0] >> setpagedevice }} try {{ (%stdout) (w) file read }} try {{ 300 {{ gsave }} repeat }} try
{{ 2000000 array }} try {{ -1 string }} try {{ 1 2 3 4 5 6 7 8 9 10 11 12 12 array astore 0 setdash }} try
{{ /a 1 2 3 put }} try {{ 3 (x) 1 getinterval }} try {{ (abc) 5 (de) putinterval }} try {{ [ 1 2 ] {{ }} 3 forall }} try
{{ 4 0 1 4 {{ stop }} for }} try {{ 1 (a) add }} try {{ null 1 2 dict 3 1 roll put }} try {{ (12x) cvi }} try {{ 1e20 cvi }} try
grestoreall showpage
"""


def error(kind: int) -> str:
    """Programs that end by an error nobody catches; each names another."""
    return (
        "1 2 no-such-operator",
        "(text) 1 add",
        "pop",
        "newpath 3 4 lineto",
        "1 0 div",
        "[1 2 3] 7 get",
        "(unfinished string",
        "{ 1 2",
        "1 2 3 ]",
        "/x 5 def x exit",
        "mark (a) 1 >>",
        "99 setlinecap",
        "stop",
        "0.5 0.5 moveto (no font) show",
    )[kind]


PROGRAMS: tuple[Callable[[Random, int], str], ...] = (
    polygons, lines, arcs, text, images, filters, fractal, curve, clips, patterned_font, numbers, data, packing, queries,
    odds,
)  # fmt: skip

DEVICES = ("ppmraw", "pgmraw", "pbmraw", "ppm", "pgm", "pbm")


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of ghostscript."""
    if size != "test":
        return _large(size, index, rng)
    if index < 2 * len(PROGRAMS):
        device = DEVICES[index % 6] if index < 2 * 6 else "ppmraw"
        program = PROGRAMS[index % len(PROGRAMS)](rng, 1)
        alpha = ("1", "4", "2")[index % 3]
        return _case(program, device, "-g200x200", f"-dGraphicsAlphaBits={alpha}")
    index -= 2 * len(PROGRAMS)
    if index < 14:
        return _case(error(index), "ppmraw", "-g20x20")
    return (
        Case({}, ("-sDEVICE=png16m", "x.ps")),
        Case({}, ("absent.ps",)),
        Case({}, ("-q", "-r300x0", "x.ps")),
        Case(
            {
                "a.ps": b"/shared 7 def 3 { showpage } repeat",
                "b.ps": b"shared == showpage quit never",
            },
            ("-q", "-g9x9", "-dBATCH", "-dNOPAUSE", "-sOutputFile=p%02d.ppm", "--", "a.ps", "b.ps"),
            outputs=("p01.ppm", "p03.ppm", "p04.ppm"),
        ),
    )[index - 14]


def _large(size: str, index: int, rng: Random) -> Case:
    scale = {"small": 6, "ref": 24}[size]
    chosen = PROGRAMS[(0, 3, 6, 7, 4, 8)[index]](rng, scale)
    width = {"small": "-g400x400", "ref": "-g1200x1200"}[size]
    resolution = {"small": "-r144", "ref": "-r432"}[size]
    return _case(chosen, "ppmraw", width, resolution, "-dGraphicsAlphaBits=4")


def _case(program: str, device: str, *options: str) -> Case:
    files = {"in.ps": f"%!PS\n{program}".encode("latin-1")}
    return Case(
        files,
        ("-q", f"-sDEVICE={device}", "-sOutputFile=out.pnm", *options, "in.ps"),
        outputs=("out.pnm",),
    )
