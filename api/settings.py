"""Provide the default registry, the tuner and the options that kernels are compiled with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from .ir.errors import ValueProblem
from .limits import read_environment
from .runtime.compiler import Options
from .runtime.deferred import DeferredRegistry, DeferredTuner
from .runtime.disk.cache import data_directory

if TYPE_CHECKING:
    from pathlib import Path

    from .runtime.registry import Registry
    from .runtime.selection.settings import Settings
    from .runtime.selection.tuner import Tuner

    registry: Registry
    tuner: Tuner


def default_options(backend: str = "llvm", blas: bool = False) -> Options:
    """Return the default options of a kernel; `WEFT_VERIFY=1` checks the graph after every pass."""
    read_environment()
    return Options(backend=backend, verify=os.environ.get("WEFT_VERIFY", "") not in ("", "0"), blas=blas)


def tuner_for(options: Options) -> Tuner | None:
    """Return the tuner that chooses variants, or none if the kernel is not compiled for this machine."""
    return _tuner if options.target is None and options.backend == "llvm" and not options.variant else None


def _history_path() -> Path | None:
    """Return the history file, from `WEFT_HISTORY` or in the user's data directory; None if `WEFT_HISTORY` is 0."""
    from pathlib import Path

    from .ir.support.files import is_plain

    given = os.environ.get("WEFT_HISTORY", "").strip()
    if given == "0":
        return None
    found = Path(given or Path(data_directory()) / "history.json").expanduser()
    if given and not is_plain(str(found)):
        raise ValueProblem(
            f"WEFT_HISTORY must name a regular file, not {given!r}", hint="WEFT_HISTORY=0 keeps no history"
        )
    return found


def search_path() -> tuple[str, ...]:
    """List the folders that `import` and `weft.kernels` search: those of `WEFT_PATH`, then the user's own."""
    given = [part.strip() for part in os.environ.get("WEFT_PATH", "").split(os.pathsep)]
    folders = [part for part in given if part] + [os.path.join(data_directory(), "kernels")]
    return tuple(dict.fromkeys(os.path.abspath(os.path.expanduser(folder)) for folder in folders))


def _settings() -> Settings:
    """Read `WEFT_EXPLORE`, the share of long calls that try other variants."""
    from .runtime.selection.settings import Settings

    given = os.environ.get("WEFT_EXPLORE", "").strip()
    if not given:
        return Settings()
    try:
        return Settings(explore=float(given))
    except ValueError:
        raise ValueProblem(f"WEFT_EXPLORE must be a number from 0 to 1, not {given!r}") from None


def _make_registry() -> Registry:
    from .runtime.registry import Registry

    return Registry(place=(__name__, "registry"))


def _has_history() -> bool:
    """Tell whether times were recorded by earlier processes."""
    given = os.environ.get("WEFT_HISTORY", "").strip()
    return given != "0" and os.path.exists(os.path.expanduser(given or os.path.join(data_directory(), "history.json")))


def _make_tuner() -> Tuner:
    from .runtime.selection.history import History
    from .runtime.selection.tuner import Tuner

    return Tuner(History(_history_path()), _settings())


# These have everything that a kernel needs from a registry and a tuner.
lookup = cast("Registry", DeferredRegistry(_make_registry, (__name__, "lookup")))
_tuner = cast("Tuner", DeferredTuner(_make_tuner, _has_history, (__name__, "_tuner")))


def __getattr__(name: str) -> Any:
    """Make `registry` and `tuner` when they are first used."""
    deferred: Any = {"registry": lookup, "tuner": _tuner}.get(name)
    if deferred is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return deferred.made
