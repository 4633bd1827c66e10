"""Run kernels, a C library and the tests of native calls on AArch64, emulated by qemu, and compare bits with x86-64.

`python -m tests.arm [FOLDER]` sets the machine up in FOLDER (`build/arm`) and needs Debian or a system like it, because
Python for AArch64 comes from there. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from weft.command.main import main as weft_command

from tests.aot.test_program import HERE as C_FILES
from tests.aot.test_program import KERNELS, expected

from .machine import TRIPLE, Machine

CALLS = ("test_native_calls.py", "test_threads.py", "test_bounds.py")


def main(arguments: list[str]) -> int:
    machine = Machine(Path(arguments[0] if arguments else "build/arm"))
    machine.set_up(_wheel())
    problems = [
        *different_kernels(machine),
        *c_library(machine),
        *failed_tests(machine),
    ]
    print("\n".join(problems) or "AArch64 agrees with this machine")
    return 1 if problems else 0


def different_kernels(machine: Machine) -> list[str]:
    """Compare the bits of all kernels."""
    here, there = (_digests(python) for python in (sys.executable, machine.python))
    names = {line.split()[0] for line in here}
    print(f"{len(names)} kernels in {len(here)} forms ran on both machines")
    return [f"kernels: {a} here, {b} on AArch64" for a, b in zip(here, there, strict=True) if a != b]


def _digests(python: str | Path) -> list[str]:
    done = subprocess.run([python, "-m", "tests.arm.kernels"], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def c_library(machine: Machine) -> list[str]:
    """Build a C program for AArch64 with an object file of Weft, run it, and compare what it computes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = [str(C_FILES / "kernels.weft"), *KERNELS, "-o", str(folder / "k.o"), "--target", TRIPLE]
        if weft_command(["build", *built]) != 0:
            return ["C library: weft build failed"]
        source = [str(C_FILES / "program.c"), f"-I{folder}", str(folder / "k.o"), "-o", str(folder / "program")]
        subprocess.run([f"{TRIPLE}-gcc", "-std=c11", *source, "-pthread", "-static"], check=True)
        same = machine.run(folder / "program") == expected()
    print(f"a C program with {len(KERNELS)} kernels ran on AArch64")
    return [] if same else ["C library: other results than on this machine"]


def failed_tests(machine: Machine) -> list[str]:
    files = [str(Path(__file__).parents[1] / "runtime" / name) for name in CALLS]
    done = subprocess.run([machine.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files], check=False)
    return [] if done.returncode == 0 else [f"tests of calls: pytest ended with {done.returncode}"]


def _wheel() -> Path:
    found = sorted(Path("dist").glob("weft-*.whl"))
    if not found:
        raise SystemExit("dist/ has no wheel: make test-arm builds one first")
    return found[-1].absolute()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
