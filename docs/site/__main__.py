# SPDX-License-Identifier: MIT
"""Build the site of this release into a folder of its own, beside those of others.

``python -m docs.site`` writes ``site/VERSION/``, then ``site/versions.json``, which the switch on
every page reads, and ``site/index.html``, which leads to the newest. Warnings and links that lead
nowhere fail.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.version import InvalidVersion, Version

from docs.site import ROOT, api_pages, release, tutorial_pages
from docs.site.links import broken
from docs.site.pages import assemble

FORWARD = """<!doctype html>
<meta charset="utf-8"><title>compiler_gym</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">compiler_gym {newest}</a>
"""


def build(folder: Path, jobs: int = 2) -> None:
    """Build the pages of this release into `folder`, or end with what is wrong with them."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-E"]
    kept = ROOT / "build" / "site-doctrees"
    api_pages.write()
    tutorial_pages.write()
    command += ["-j", str(jobs), "-b", "html", "-d", str(kept), "-c", str(ROOT / "docs")]
    with tempfile.TemporaryDirectory() as own:  # two builds may run at the same time
        pages = assemble(Path(own) / "repository")
        if subprocess.run([*command, str(pages), str(folder)], cwd=ROOT, check=False).returncode:
            sys.exit("the site has warnings: mend what the lines above say")
    nowhere = list(broken(folder))
    if nowhere:
        sys.exit("links that lead nowhere:\n  " + "\n  ".join(nowhere))


def publish(site: Path) -> list[str]:
    """List the releases in `site`, newest first, lead to the newest, and return them."""
    there = [path.parent.name for path in site.glob("*/index.html")]
    versions = sorted((name for name in there if _is_version(name)), key=Version, reverse=True)
    settled = [name for name in versions if not Version(name).is_prerelease]
    (site / "versions.json").write_text(json.dumps(versions) + "\n", encoding="utf-8")
    newest = (settled or versions)[0]
    (site / "index.html").write_text(FORWARD.format(newest=newest), encoding="utf-8")
    return versions


def _is_version(name: str) -> bool:
    try:
        Version(name)
    except InvalidVersion:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "site")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    build(options.folder / release(), options.jobs)
    versions = publish(options.folder)
    print(f"{options.folder}/index.html: {', '.join(versions)}")


if __name__ == "__main__":
    main()
