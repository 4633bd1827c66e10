"""Define the status codes of C functions: numbers, names in the header, and meanings."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """The C enum, name for name."""

    OK = 0
    BAD_SIZE = 1
    MISMATCH = 2
    NULL_POINTER = 3
    OVERLAP = 4
    EMPTY = 5
    BAD_INDEX = 6
    NO_MEMORY = 7
    BAD_CPU = 8
    BAD_NUMBER = 9

    @property
    def label(self) -> str:
        """The label that failed checks jump to."""
        return self.name.lower()


MEANINGS = {
    Status.OK: "the results were written",
    Status.BAD_SIZE: "a size is negative, too large, or not one that the kernel takes",
    Status.MISMATCH: "one dimension has two sizes, or the shape of an array differs from the declared one",
    Status.NULL_POINTER: "the pointer of a non-empty array is NULL",
    Status.OVERLAP: "a result shares memory with an argument or with another result",
    Status.EMPTY: "min, max, argmin or argmax of no elements",
    Status.BAD_INDEX: "an index is out of range; the results are not to be used",
    Status.NO_MEMORY: "no memory for intermediate arrays",
    Status.BAD_CPU: "this CPU lacks instructions that the library needs",
    Status.BAD_NUMBER: "a number does not fit the dtype of the array that it is combined with",
}


def messages_text(prefix: str, version: str) -> str:
    """Generate `PREFIX_version()` and `PREFIX_message(status)`."""
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
