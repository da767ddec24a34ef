# SPDX-License-Identifier: MIT
"""``compiler-gym new NAME``: a package or a program that makes a compiler an environment.

It works and passes the public test suites; its parts are placeholders.
"""

import keyword
import re
import sys
from collections.abc import Iterator
from enum import Enum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from compiler_gym.cli.kit.output import Json, output, print_json
from compiler_gym.errors import InvalidParameterError
from compiler_gym.files import writing
from compiler_gym.registration import compilers


class Language(Enum):
    """The language of a compiler's session."""

    PYTHON = "python"
    CPP = "cpp"


_SKELETONS = {Language.PYTHON: "_skeleton", Language.CPP: "_skeleton_cpp"}
_NEXT_STEPS = {
    Language.PYTHON: (
        "cd {target} && pip install -e '.[test]' && python -m pytest",
        "(if uv manages the environment: uv pip install -e '.[test]')",
        "compiler-gym describe {env_id}",
    ),
    Language.CPP: (
        "cd {target} && cmake -S . -B build && cmake --build build",
        "compiler-gym conformance {name}.toml",
    ),
}
_PACKAGE_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_TAKEN = ("compiler_gym", "gymnasium", "numpy", "test", "tests")


def new(
    name: Annotated[str, typer.Argument(help="Name of the compiler, such as tiny-c.")],
    folder: Annotated[
        Path | None, typer.Option(help="Folder for the package [default: ./NAME].")
    ] = None,
    language: Annotated[Language, typer.Option(help="Language of the session.")] = Language.PYTHON,
    json: Json = False,
) -> None:
    """Create a package that turns another compiler into an environment.

    compiler-gym new tiny-c --language cpp
    """
    values = _placeholders(name)
    target = Path(values["name"]) if folder is None else folder
    written = _write_package(target, values, language)
    if json:
        print_json({"folder": str(target), "files": written, "environment": values["env_id"]})
        return
    console = output()
    console.print(f"created {target} with {len(written)} files that work unchanged. Next:")
    for step in _NEXT_STEPS[language]:
        console.print("  " + step.format(target=target, **values), soft_wrap=True)


def _placeholders(name: str) -> dict[str, str]:
    """Return the values of the placeholders; raise `InvalidParameterError` for a bad name."""
    package = name.replace("-", "_")
    if not _PACKAGE_NAME.fullmatch(name) or keyword.iskeyword(package) or _is_taken(package):
        raise InvalidParameterError(
            f"{name!r} cannot be the name of a package: use a free name such as tiny-c, with "
            "lowercase letters, digits and dashes"
        )
    dashed = name.replace("_", "-")
    return {
        "name": dashed,
        "package": package,
        "Class": "".join(part.capitalize() for part in package.split("_")),
        "env_id": f"{dashed}-v0",
    }


def _is_taken(package: str) -> bool:
    """Return whether a package of that name would hide another package or a compiler."""
    return package in (*_TAKEN, *sys.stdlib_module_names, *compilers())


def _write_package(target: Path, values: dict[str, str], language: Language) -> list[str]:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameterError(f"{target} exists already: choose another with --folder")
    written: list[str] = []
    with writing(target, InvalidParameterError):
        for path, text in _package_files(values, language):
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            written.append(str(path))
    return written


def _package_files(values: dict[str, str], language: Language) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of every file."""
    package = Path("src") / values["package"]
    paths = {
        "pyproject.toml": Path("pyproject.toml"),
        "README.md": Path("README.md"),
        "test_package.py": Path("tests") / f"test_{values['package']}.py",
        "plugin.toml": Path(f"{values['name']}.toml"),
        "long.txt": Path("programs") / "long.txt",
    }
    skeleton = files("compiler_gym.cli").joinpath(_SKELETONS[language])
    for template in _sort_entries(skeleton):
        if template.is_file():
            name = template.name.removesuffix(".txt")
            yield paths.get(name, Path(name)), _fill(template, values)
    package_folder = skeleton.joinpath("package")
    for template in _sort_entries(package_folder) if package_folder.is_dir() else ():
        yield package / template.name.removesuffix(".txt"), _fill(template, values)


def _sort_entries(folder: Traversable) -> list[Traversable]:
    return sorted(folder.iterdir(), key=lambda entry: entry.name)


def _fill(template: Traversable, values: dict[str, str]) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(values)
