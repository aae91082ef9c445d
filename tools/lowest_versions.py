"""Install the lowest version of every dependency that pyproject.toml declares, and run tools/smoke.py with them.

python tools/lowest_versions.py [FOLDER]    # for the virtual environment; a temporary one by default

Dependencies of dependencies come in their newest versions that fit.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("serve", "lab", "mdp", "frames", "distributed")


def lowest() -> list[str]:
    """Each dependency of the core and the extras at its lower bound, as `name==version`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [*project["dependencies"], *(each for extra in EXTRAS for each in project["optional-dependencies"][extra])]
    return sorted({re.sub(r"^([\w-]+)>=([\w.]+).*$", r"\1==\2", each) for each in declared})


def main(folder: Path) -> None:
    """Make the environment, install, run the smoke test; the exit code is that of the first step that fails."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    print(" ".join(lowest()), flush=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--upgrade", "pip"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *lowest()], check=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "LOGBARRIER_CACHE_DIR": str(folder / "cache")}
    subprocess.run([python, str(ROOT / "tools" / "smoke.py")], check=True, env=environment)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
