"""Set up a Python for AArch64 that runs here under qemu, with NumPy, llvmlite and this project's wheel.

Debian's packages are fetched and unpacked in a folder of the build, and nothing of them is installed on the system. The
Python wheels come from the package index that pip is configured for. What is already there is not fetched again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TRIPLE = "aarch64-linux-gnu"
NEEDED = {"qemu-aarch64": "qemu-user", f"{TRIPLE}-gcc": "gcc-aarch64-linux-gnu"}  # programs and their Debian packages
PACKAGES = ("python3", "libstdc++6")
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")

SCRIPT = """#!/bin/sh
# Run the AArch64 Python of this folder under qemu.
export PYTHONHOME={root}/usr PYTHONPATH={folder}/site XDG_CACHE_HOME={folder}/cache
exec qemu-aarch64 -0 "$0" -L {root} {interpreter} "$@"
"""


class Machine:
    """A folder with the root of an AArch64 system and the Python packages for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.root = self.folder / "root"
        self.site = self.folder / "site"

    @property
    def python(self) -> Path:
        """A script that runs the machine's Python; processes that it starts as `sys.executable` go through it too."""
        return self.folder / "python"

    def set_up(self, wheel: Path) -> None:
        missing = [package for program, package in NEEDED.items() if shutil.which(program) is None]
        if missing:
            _run("apt-get", "install", "--yes", "--no-install-recommends", *missing, "libc6-dev-arm64-cross")
        if not self.root.exists():
            self._unpack_debian()
        interpreter = self._interpreter()
        version = interpreter.name.removeprefix("python")
        platforms = [option for name in PLATFORMS for option in ("--platform", name)]
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target", str(self.site), "--upgrade")
        _run(*pip, *platforms, "--python-version", version, "--only-binary=:all:", f"{wheel}[test]")
        self.python.write_text(SCRIPT.format(folder=self.folder, root=self.root, interpreter=interpreter))
        self.python.chmod(0o755)

    def run(self, *command: str | Path) -> bytes:
        """Return what a program of that machine prints."""
        return subprocess.run(("qemu-aarch64", "-L", self.root, *command), check=True, stdout=subprocess.PIPE).stdout

    def _interpreter(self) -> Path:
        found = sorted((self.root / "usr/bin").glob("python3.[0-9]*[0-9]"))
        if not found:
            raise SystemExit(f"{self.root} has no Python: remove {self.folder} and try again")
        return found[-1]

    def _unpack_debian(self) -> None:
        state = self.folder / "apt"
        for name in ("lists/partial", "cache/archives/partial"):
            (state / name).mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        settings = {
            "APT::Architecture": "arm64",
            "APT::Architectures": "arm64",
            "Dir::State::lists": state / "lists",
            "Dir::State::status": state / "status",
            "Dir::Cache": state / "cache",
            "Debug::NoLocking": "1",
            "APT::Sandbox::User": "root",
        }
        options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        apt = ("apt-get", "--quiet=2", *options)
        _run(*apt, "update")
        _run(*apt, "install", "--yes", "--no-install-recommends", "--download-only", *PACKAGES)
        unpacked = self.folder / "unpacked"
        for package in sorted((state / "cache/archives").glob("*.deb")):
            _run("dpkg-deb", "--extract", str(package), str(unpacked))
        unpacked.rename(self.root)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
