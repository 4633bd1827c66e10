"""List the environment variables that Weft reads: the table behind `weft env` and docs/environment.md."""

from __future__ import annotations

from .ir.tuples import NamedTuple


class EnvVariable(NamedTuple):
    """An environment variable: its name, its default, and what it does."""

    name: str
    default: str
    meaning: str


VARIABLES = (
    EnvVariable("WEFT_NUM_THREADS", "all cores", "the most threads that a kernel may use; 1 disables the pool"),
    EnvVariable("WEFT_CACHE", "1", "0 keeps no compiled kernels on disk"),
    EnvVariable("WEFT_CACHE_DIR", "the user's cache folder", "the folder for compiled kernels"),
    EnvVariable("WEFT_CACHE_LIMIT", "512 MB", "the size of that folder in bytes; the oldest entries are deleted"),
    EnvVariable("WEFT_PATH", "the user's data folder", "folders to search for kernel files, as in PATH"),
    EnvVariable("WEFT_MEMORY_LIMIT", "up to 1 GB", "the bytes of freed memory to keep for later results; 0 keeps none"),
    EnvVariable("WEFT_CALIBRATION", "in the data folder", "the file with times of this machine; 0 measures none"),
    EnvVariable("WEFT_HISTORY", "in the data folder", "the file with measured times of variants; 0 keeps none"),
    EnvVariable("WEFT_EXPLORE", "0.05", "the share of long calls, from 0 to 1, that try another variant"),
    EnvVariable("WEFT_EXPLAIN", "0", "1 prints what jitted functions run in Python, and why"),
    EnvVariable("WEFT_LOG", "none", "compile logs what is compiled, to the logger weft.compile and to stderr"),
    EnvVariable("WEFT_TRACEBACK", "0", "1 shows all frames of an error, not only your own"),
    EnvVariable("WEFT_NATIVE_CALLS", "1", "0 makes every call go through Python"),
    EnvVariable("WEFT_VERIFY", "0", "1 checks the graph after each pass"),
    EnvVariable("WEFT_MAX_TEXT", "1000000", "the longest kernel text, in characters"),
    EnvVariable("WEFT_MAX_DEPTH", "100", "the deepest nesting of kernel text"),
    EnvVariable("WEFT_MAX_NODES", "10000", "the most operations of a graph"),
    EnvVariable("WEFT_MAX_SECONDS", "10", "the most CPU seconds for one compile"),
    EnvVariable("WEFT_MAX_RESULT_BYTES", "the memory", "the largest array that Weft makes, in bytes"),
)
