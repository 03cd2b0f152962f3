"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

torch has the version of constraints.txt: of the lowest one, the package index only has the build
that needs gigabytes of GPU libraries.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]

project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
sys.stdout.write("".join(re.findall(r"(?m)^torch==.*\n", pins)))
for requirement in [*project["dependencies"], *project["optional-dependencies"]["tables"]]:
    name, lowest = requirement.partition("[")[0].partition(">=")[0], requirement.split(">=")[1]
    if name != "torch":
        sys.stdout.write(f"{name}=={lowest}\n")
