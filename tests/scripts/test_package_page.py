# SPDX-License-Identifier: MIT
"""What an index and a forge show of the project leads somewhere, and says what pyproject says."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from scripts.release import package_page
from scripts.release.package_page import addresses, dynamic_metadata, with_absolute_links

ROOT = Path(__file__).parents[2]
ADDRESS = "https://forge.example/us/it"
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def test_relative_links_and_pictures_lead_to_the_repository() -> None:
    text = "[a](docs/a.md#b) ![p](p.png) [![badge](https://b)](LICENSE) [c](https://c) [d](#d)"
    assert with_absolute_links(text, ADDRESS) == (
        f"[a]({ADDRESS}/blob/main/docs/a.md#b) ![p]({ADDRESS}/raw/main/p.png) "
        f"[![badge](https://b)]({ADDRESS}/blob/main/LICENSE) [c](https://c) [d](#d)"
    )
    assert with_absolute_links("```\n[a](b)\n```", ADDRESS) == "```\n[a](b)\n```"


def test_without_an_address_a_link_is_its_text_and_a_picture_is_gone() -> None:
    text = "[a](docs/a.md) ![p](p.png)[![badge](https://b)](LICENSE) [c](https://c)"
    assert with_absolute_links(text, "") == "a ![badge](https://b) [c](https://c)"
    assert addresses("") == {}


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_nothing_on_the_page_of_the_package_is_relative(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(package_page, "repository", lambda: address)
    page = dynamic_metadata("readme", {}, {})
    assert page["content-type"] == "text/markdown"
    assert "compiler_gym.make" in page["text"]
    links = TARGET.findall(re.sub(r"```.*?```", "", page["text"], flags=re.S))
    assert all(link.startswith(("https://", "#")) for link in links)
    assert set(dynamic_metadata("urls", {}, {}).values()) == set(addresses(address).values())


def test_files_linked_from_the_readme_and_the_forge_are_committed() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", ".github/PULL_REQUEST_TEMPLATE.md"):
        text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.S)
        for link in TARGET.findall(text):
            if not re.match(r"\w+:|#", link):
                path = ((ROOT / name).parent / link.partition("#")[0]).resolve()
                assert str(path.relative_to(ROOT)) in tracked, f"{name}: {link}"


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for() -> None:
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {re.split(r"[\s;]", one)[0] for one in project["dependencies"]}
    run = recipe.partition("  run:\n")[2].partition("\ntest:")[0]
    listed = {"".join(line.split("#")[0].split()[1:3]) for line in run.splitlines()}
    assert listed - {"python", "__glibc>=2.34"} == asked
    assert "__glibc >=2.34" in recipe


def test_a_wheel_is_made_without_building_for_the_checkout() -> None:
    said = subprocess.run(
        ["make", "--dry-run", "--always-make", "wheel"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said.count(" --wheel --no-build-isolation ") == 2
    assert " -e " not in said


def test_the_container_runs_what_the_readme_names() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert 'CMD ["make", "demo"]' in lines
    assert "RUN .github/llvm-source && make setup" in lines
    subprocess.run(["sh", "-n", ROOT / ".github" / "llvm-source"], check=True)
    assert "`make demo`" in (ROOT / "README.md").read_text(encoding="utf-8")
