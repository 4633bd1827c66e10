"""Generate the C header of a library."""

from __future__ import annotations

from collections.abc import Sequence

from .c_entry import scalar_parameters
from .forms import CForm, CParameter
from .platforms import Platform
from .status import MEANINGS, Status

_NUMBERS = {"float": "float", "double": "double"}


def header_text(forms: Sequence[CForm], prefix: str, version: str, source: str, platform: Platform) -> str:
    """Return the header. The part common to all libraries has its own guard, so that several can be included."""
    guard = f"{prefix.upper()}_H"
    cpus = ", ".join(level.name for level in platform.levels)
    return "\n".join([
        f"/* Kernels of {_in_comment(source)}, compiled by Weft {version} for {cpus}.",
        " *",
        " * Every kernel has two functions. NAME takes arrays in C order without gaps: a pointer for each argument and",
        " * result, and each size once. NAME_strided takes a weft_array for each array, with any strides. Numbers are",
        " * passed by value. Results must not share memory with arguments or with one another. Both give WEFT_OK or",
        " * say what is wrong; nothing is written then, except for WEFT_BAD_INDEX. They may be called from any thread.",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "",
        *_common(),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *_library(prefix),
        *(line for form in forms for line in _kernel(form)),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
        "",
    ])  # fmt: skip


def _common() -> list[str]:
    statuses = [f"    WEFT_{s.name} = {s.value}, /* {MEANINGS[s]} */" for s in Status]
    statuses[-1] = statuses[-1].replace(",", "", 1)
    return [
        "#ifndef WEFT_C_INTERFACE",
        "#define WEFT_C_INTERFACE 1",
        "",
        "enum weft_status {",
        *statuses,
        "};",
        "",
        "/* An array: its elements, and for each dimension its size and the step in bytes, which may be negative. */",
        "typedef struct weft_array {",
        "    void *data;",
        "    const int64_t *shape;",
        "    const int64_t *strides;",
        "} weft_array;",
        "",
        "typedef uint16_t weft_f16;  /* the bits of a half, IEEE 754 binary16 */",
        "typedef uint16_t weft_bf16; /* the upper half of the bits of a float */",
        "typedef struct weft_c64 { float re, im; } weft_c64;    /* laid out as float _Complex */",
        "typedef struct weft_c128 { double re, im; } weft_c128; /* laid out as double _Complex */",
        "",
        "/* Calls piece(work, k) once for each k from 0 to pieces - 1, on any threads; returns when all are done. */",
        "typedef void (*weft_piece)(void *work, int64_t k);",
        "typedef void (*weft_parallel)(void *context, weft_piece piece, void *work, int64_t pieces);",
        "",
        "#endif /* WEFT_C_INTERFACE */",
        "",
    ]


def _library(prefix: str) -> list[str]:
    return [
        "/* The version of Weft that made this library. */",
        f"const char *{prefix}_version(void);",
        "",
        "/* The CPU level whose code runs here, NULL if this CPU can run none. */",
        f"const char *{prefix}_cpu(void);",
        "",
        "/* What a status means. */",
        f"const char *{prefix}_message(int status);",
        "",
        "/* From now on long calls are cut into so many pieces, which `run` runs; NULL is the calling thread alone, as",
        " * at the start. Results do not depend on it. Not to be called while a kernel runs. */",
        f"void {prefix}_set_parallel(weft_parallel run, void *context, int64_t pieces);",
        "",
    ]


def _kernel(form: CForm) -> list[str]:
    sizes = list(form.sizes.values())
    about = [f"/* {_in_comment(form.declared)}", " *"]
    width = max(len(item.name) for item in form.items)
    about += [f" *   {item.name:<{width}}  argument: {_described(form, item)}" for item in form.arguments]
    about += [f" *   {item.name:<{width}}  result: {_described(form, item)}" for item in form.results]
    dense = [p for item in form.arguments for p in _dense(item)]
    dense += [f"int64_t {name}" for name in sizes] + [f"{item.c_type} *{item.name}" for item in form.results]
    lines = [*about, " */", _declaration(form.name, dense)]
    if form.is_strided:
        strided = [p for i in form.arguments for p in _strided(i)]
        strided += [f"const weft_array *{i.name}" if i.rank else f"{i.c_type} *{i.name}" for i in form.results]
        lines.append(_declaration(f"{form.name}_strided", strided))
    return [*lines, ""]


def _declaration(name: str, parameters: Sequence[str]) -> str:
    text = f"int {name}({', '.join(parameters)});"
    if len(text) <= 120:
        return text
    return f"int {name}(\n    " + ",\n    ".join(parameters) + ");"


def _strided(item: CParameter) -> list[str]:
    if item.is_size:
        return [f"int64_t {item.name}"]
    return [f"const weft_array *{item.name}"] if item.rank else _dense(item)


def _dense(item: CParameter) -> list[str]:
    if item.is_size:
        return []  # each size is a parameter once
    if item.rank:
        return [f"const {item.c_type} *{item.name}"]
    return [f"{_NUMBERS.get(elem, item.c_type)} {name}" for elem, name in scalar_parameters(item)]


def _described(form: CForm, item: CParameter) -> str:
    names = form.sizes | {symbol: str(n) for symbol, n in form.fixed.items()}
    shape = ", ".join(names.get(str(s), str(s)) for s in item.shape)
    if item.is_size:
        return "size"
    return f"{item.dtype}[{shape}]" if item.rank else str(item.dtype)


def _in_comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ")
