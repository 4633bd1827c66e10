"""What a C function gives back: numbers, their names in the header, and what they mean."""

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
        """Where checks lead that do not hold."""
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
