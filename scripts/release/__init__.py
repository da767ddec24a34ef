# SPDX-License-Identifier: MIT
"""What a release is made of and how it is checked: ``make release-check``.

`changelog` joins fragments into ``CHANGELOG.md``; `wheels` builds a wheel for each Python
and reads what is in it; `trying` installs one where nothing else is and does what the
pages show; ``python -m scripts.release --help`` is the way in.
"""
