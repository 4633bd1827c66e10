"""A library's version and its words for each status, as functions of the library."""

from __future__ import annotations

from .status import MEANINGS, Status


def messages_text(prefix: str, version: str) -> str:
    """`PREFIX_version()` and `PREFIX_message(status)`."""
    texts = [MEANINGS[status] for status in Status]
    constants = [_constant(f"@weft.message{k}", text) for k, text in enumerate(texts)]
    pointers = ", ".join(f"ptr @weft.message{k}" for k in range(len(texts)))
    return (
        "\n".join([_constant("@weft.version", version), _constant("@weft.unknown", "no status"), *constants])
        + f"""
@weft.messages = internal constant [{len(texts)} x ptr] [{pointers}]

define ptr @{prefix}_version() {{
  ret ptr @weft.version
}}

define ptr @{prefix}_message(i32 %status) {{
entry:
  %known = icmp ult i32 %status, {len(texts)}
  br i1 %known, label %named, label %none
named:
  %place = zext i32 %status to i64
  %at = getelementptr ptr, ptr @weft.messages, i64 %place
  %text = load ptr, ptr %at, align 8
  ret ptr %text
none:
  ret ptr @weft.unknown
}}
"""
    )


def _constant(name: str, text: str) -> str:
    return f'{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"'
