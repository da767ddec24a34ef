"""The sources of a package are compiled again, in rounds, and linked as its programs are."""

from pathlib import Path

from test_corpus.packages.sources import built, needs_tools

pytestmark = needs_tools

SOURCES = {
    "a.c": "int f(void);\nint main(void) { return f(); }\n",
    "f.c": "int f(void) { return 0; }\n",
    "g.s": ".globl g\ng: ret\n",
}


def test_a_program_with_a_part_of_unknown_origin_is_left_out(tmp_path: Path) -> None:
    build = "gcc a.c f.c -o known; as g.s -o g.o; gcc a.c f.c g.o -o unknown"

    result, _ = built(tmp_path, SOURCES, build)

    assert [program.name for program in result.programs] == ["known"]
    assert len(result.modules) == 2


def test_a_shared_library_is_one_module_too(tmp_path: Path) -> None:
    result, _ = built(tmp_path, SOURCES, "gcc -fPIC -shared f.c -o libf.so -lm")

    assert [(p.name, p.is_shared, p.libraries[-1]) for p in result.programs] == [
        ("libf.so", True, "-lm")
    ]


def test_equal_sources_are_one_file_and_two_modules(tmp_path: Path) -> None:
    twice = {"a/x.c": "int x;\n", "b/x.c": "int x;\n"}

    result, output = built(tmp_path, twice, "cd a && gcc -c x.c; cd ../b && gcc -c x.c")

    assert [module.file for module in result.modules] == ["a/x.c", "b/x.c"]
    assert len({module.sha256 for module in result.modules}) == 1
    assert len(list((output / "modules").iterdir())) == 1
