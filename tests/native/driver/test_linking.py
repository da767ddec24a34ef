# SPDX-License-Identifier: MIT
"""A link by a policy or a recipe makes the program that clang makes, with its plan or without."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm.flags import FRAMES, LEAVES
from compiler_gym.tools.tune.llvm.plugin import PLUGIN
from tests.native.driver.conftest import Make
from tests.native.driver.trees import CC, IMPOSSIBLE, LARGE, POLICY, RECIPE, SMALL, Tree
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
COMPARED = re.compile(
    r"compiler-gym cc: [^:]+: [\d,]+ loaded bytes with --policy size; "
    r"-Oz -flto [\d,]+ \((-\d+\.\d|0\.0) %\)\n"
)
WITHOUT = "linked without --policy size: "


@pytest.mark.parametrize(
    ("words", "is_whole"),
    [
        ("-Wl,--push-state,--whole-archive libplug.a -Wl,--pop-state libcore.a", True),
        ("-Wl,-whole-archive libplug.a -Wl,-no-whole-archive libcore.a", True),
        ("-Wl,--whole-archive,-Bstatic -lplug -Wl,--no-whole-archive,-Bdynamic libcore.a", True),
        ("-Wl,--whole-archive,libplug.a,--no-whole-archive,libcore.a", True),
        ("-Xlinker --whole-archive -Xlinker libplug.a -Wl,--no-whole-archive -l:libcore.a", True),
        ("-Wl,--whole-archive thin.a -Wl,--no-whole-archive libcore.a", True),
        ("@whole.rsp", True),
        ("-Wl,--start-lib plug1.o -Wl,--end-lib plug2.o plug3.o plug1.o core.o", True),
        ("-Wl,--start-group libcore.a libplug.a -Wl,--end-group", False),
        ("-Wl,--start-lib plug1.o plug2.o core.o -Wl,--end-lib", False),
    ],
)
def test_archives_are_linked_as_the_user_says(make: Make, words: str, is_whole: bool) -> None:
    tree = make("whole")
    tree.run("ar rcs libplug.a plug1.o plug2.o plug3.o")
    tree.run("ar rcsT thin.a plug1.o plug2.o plug3.o")
    tree.run("ar rcs libcore.a core.o")
    tree.write(
        {"whole.rsp": "-Wl,--whole-archive 'libplug.a'\n\"-Wl,--no-whole-archive\" libc\\ore.a"}
    )
    assert COMPARED.fullmatch(tree.cc(f"main.o -L. {words}"))
    assert tree.printed() == ("3 plug-ins 30\n" if is_whole else "0 plug-ins 0\n")


@pytest.mark.parametrize("how", [POLICY, RECIPE])
@pytest.mark.parametrize("own", ["", "-Wl,--no-gc-sections"])
def test_used_sections_stay(tmp_path: Path, how: str, own: str) -> None:
    tree = Tree(tmp_path)
    kinds = ["used", "used, retain", 'used, section("plain")', 'used, retain, section("info")']
    text = "".join(
        f'__attribute__(({kind})) static const char text{n}[] = "stamp-{n}";\n'
        f"__attribute__(({kind.replace('plain', 'code').replace('info', 'more')}))"
        f' static void dump{n}(void) {{ puts("dump-{n}"); }}\n'
        for n, kind in enumerate(kinds)
    )
    tree.write({"used.c": f"#include <stdio.h>\n{text}int main(void) {{ return 0; }}\n"})
    tree.cc(f"used.c {own}", how)
    linked = (tmp_path / "a.out").read_bytes()
    assert [f"{name}-{n}" for name in ("stamp", "dump") for n in range(4)
            if f"{name}-{n}".encode() not in linked] == []  # fmt: skip


@pytest.mark.parametrize("second", ["o2", "n2"])
@pytest.mark.parametrize("ending", ["c", "o"])
def test_constructors_run_in_the_order_of_the_link(make: Make, second: str, ending: str) -> None:
    tree = make("order")
    names = ["main", "o1", second, "o3"]
    said = tree.cc(" ".join(f"{name}.{ending}" for name in names))
    assert tree.printed() == "1 2 3 "
    if second == "o2":  # else it has no IR
        assert COMPARED.fullmatch(said)
        return
    of = {"c": ("n2", "o1"), "o": ("n2.o", "o1.o")}[ending]
    assert said.splitlines()[-1] == (
        f"compiler-gym cc: a.out: {WITHOUT}the parts of .init_array would change their order, "
        f"because {of[0]} has no IR and {of[1]} has"
    )
    assert ("n2 is compiled without link-time optimisation: it has assembler" in said) == (
        ending == "c"
    )


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("SECTIONS { .f : { start = .; *hot.o(.text .text.*) end = .; } } INSERT BEFORE .fini;",
         "chooses sections by the names of files"),
        ("SECTIONS { .f : { start = .; *(.fast) end = .; } } INSERT BEFORE .fini;", ""),
        ("INCLUDE other.ld", "chooses sections by the names of files"),
        ("INPUT(hot.o cold.o) start = .; end = .;", "names files to link"),
        ("GROUP ( cold.o hot.o ) start = .; end = .;", "names files to link"),
        ("start = .; end = .;", ""),
    ],
)  # fmt: skip
def test_linker_scripts_do_what_they_say(make: Make, script: str, why: str) -> None:
    tree = make("script")
    tree.write({"x.ld": script, "other.ld": "start = .; end = .;"})
    words = "main.o x.ld" if "INPUT" in script or "GROUP" in script else "main.o hot.o cold.o"
    words += " -T x.ld" if "SECTIONS" in script else " x.ld" * ("x.ld" not in words)
    said = tree.cc(words)
    assert (f"{WITHOUT}the linker script x.ld {why}\n" in said) if why else COMPARED.fullmatch(said)
    printed = tree.printed()
    assert printed.startswith("1 0 " if ".text.*" in script else "0 0 ")


def test_links_of_other_kinds_are_native_and_say_so(make: Make) -> None:
    tree = make("parts")
    assert "loaded bytes" not in tree.cc("-r main.o part.o -o all.o")
    assert "loaded bytes" not in tree.cc("all.o")
    assert tree.printed() == "45\n"
    tree.run("clang-22 -m32 -flto -fPIC -c part.c -o part32.o")
    said = tree.cc("-nostdlib -shared -Wl,-m,elf_i386 part32.o -o lib.so")
    assert f"lib.so: {WITHOUT}it is for x86-64, not for elf_i386\n" in said


@pytest.mark.parametrize(
    "output", ["a b", "a,b", "testfile/run", "conftest/run", "Map", "cmTC_x/run", "-Map=x"]
)
def test_names_of_outputs_change_nothing(make: Make, output: str) -> None:
    tree = make("parts")
    (tree.path / output).parent.mkdir(exist_ok=True)
    said = tree.cc(f"main.o part.o -o './{output}'")
    assert COMPARED.fullmatch(said)
    assert tree.printed(output) == "45\n"


def test_a_question_of_a_build_system_is_linked_once_and_without_a_word(make: Make) -> None:
    tree = make("parts")
    for line in ("main.c part.c -o conftest", "main.o part.o -o conftest"):
        assert tree.cc(line, tree.by(IMPOSSIBLE)) == ""
        assert tree.printed("conftest") == "45\n"


def test_folders_of_temporary_files_may_have_any_name(make: Make) -> None:
    tree = make("parts")
    (tree.path / "x, y").mkdir()
    assert COMPARED.fullmatch(tree.cc("main.c part.o", TMPDIR=str(tree.path / "x, y")))
    assert tree.printed() == "45\n"
    assert not list((tree.path / "x, y").iterdir())


@pytest.mark.parametrize("plan", [LARGE, SMALL], ids=["rival", "plan"])
def test_the_program_has_the_mode_that_the_user_asks_for(make: Make, plan: BinaryPlan) -> None:
    tree = make("parts")
    tree.run(f"sh -c 'umask 077; exec {CC} {tree.by(plan)} main.o part.o'")
    assert (tree.path / "a.out").stat().st_mode & 0o777 == 0o700


POINTERS = """
extern "C" int puts(const char *);
static const char *volatile names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
struct Shape { virtual const char *name() const { return names[0]; } };
struct Square : Shape { const char *name() const override { return names[4]; } };
const Shape *volatile shape = new Square;
extern "C" int show(int n) { puts(names[n]); return puts(shape->name()) < 0; }
#ifndef LIBRARY
int main(int count, char **) { return show(count); }
#endif
"""
LIBC = Path("/lib/x86_64-linux-gnu/libc.so.6")
NEW = b"GLIBC_ABI_DT_RELR"


@pytest.mark.skipif(NEW not in LIBC.read_bytes(), reason="needs glibc 2.36")
@pytest.mark.parametrize(
    ("how", "words", "is_expected"),
    [
        (POLICY, "", True), (f"{POLICY} --no-never-larger", "", True),
        (POLICY, "-shared -fPIC -DLIBRARY", True), (POLICY, "-lc -nodefaultlibs -lstdc++", True),
        (POLICY, "-static", False), (POLICY, "-static-pie", False), (POLICY, "-no-pie", False),
        (POLICY, "--sysroot=old", False), (POLICY, "-Wl,-z,nopack-relative-relocs", False),
        (POLICY, "few.cc", False),
        (f"{POLICY} --old-loaders", "", False), (f"{POLICY} --no-plugin --old-loaders", "", False),
        ("--recipe small-packed", "", True), ("--recipe small-packed", "-no-pie", False),
        (RECIPE, "", False),
    ],
)  # fmt: skip
def test_relocations_are_packed_where_the_c_library_reads_them(
    tmp_path: Path, how: str, words: str, is_expected: bool
) -> None:
    tree = Tree(tmp_path)
    few = '#include <stdio.h>\nint main() { return puts("few") < 0; }\n'
    tree.write({"main.cc": POINTERS, "few.cc": few, "old/lib/x86_64-linux-gnu/none": ""})
    if "old" in words:
        for library in LIBC.parent.glob("*.so.*"):
            (tmp_path / "old/lib/x86_64-linux-gnu" / library.name).symlink_to(library)
        (tmp_path / "old/usr").symlink_to("/usr")
        (tmp_path / "old/lib64").symlink_to("/lib64")
        libc = tmp_path / "old/lib/x86_64-linux-gnu" / LIBC.name
        libc.unlink()
        libc.write_bytes(LIBC.read_bytes().replace(NEW, NEW.lower()))
    source = "" if "few" in words else "main.cc"
    tree.run(f"{CC.replace('-cc', '-cxx')} {how} {words} {source}")
    shown = tree.run("llvm-readelf-22 --sections --version-info a.out")[0]
    assert (".relr.dyn" in shown, NEW.decode() in shown) == (is_expected, is_expected)
    if "-shared" not in words:
        assert tree.printed() == ("few\n" if "few" in words else "b\ne\n")


@pytest.mark.parametrize(
    ("flags", "rules"), [((FRAMES, LEAVES), ("-frame",)), ((), ("-frame",)), ((), ())]
)
def test_functions_that_call_others_get_frame_pointers(
    make: Make, flags: tuple[str, ...], rules: tuple[str, ...]
) -> None:
    tree = make("parts")
    plan = replace(SMALL, name="framed", flags=flags, plugin=(PLUGIN, *rules))
    tree.cc("main.o part.o -rdynamic", f"{tree.by(plan)} --no-never-larger")
    for function, has_frame in (("main", bool(flags)), ("part", False)):
        shown = tree.run(f"llvm-objdump-22 -d --disassemble-symbols={function} a.out")[0]
        assert ("%rbp" in shown) == has_frame, shown


def test_without_the_size_plug_in_a_link_says_so_once(make: Make) -> None:
    tree = make("parts")
    said = tree.cc("main.o part.o", COMPILER_GYM_SIZE_PLUGIN="/none.so").splitlines()
    assert said[0] == (
        "compiler-gym cc: a.out: linked without the size plug-in: /none.so does not exist; see "
        "COMPILER_GYM_SIZE_PLUGIN"
    )
    assert COMPARED.fullmatch("".join(f"{line}\n" for line in said[1:]))
    without = (tree.path / "a.out").read_bytes()
    assert COMPARED.fullmatch(tree.cc("main.o part.o", f"{POLICY} --no-plugin"))
    assert (tree.path / "a.out").read_bytes() == without
    tree.cc("main.o part.o")
    assert (tree.path / "a.out").read_bytes() != without
