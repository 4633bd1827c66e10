"""Check the tables that the dynamic linker follows: symbols, versions, relocations and initialisers.

Each may only point into the library's own memory, and calls may only go into its code. The linker does not check: it
writes where a relocation tells it to, and it aborts or continues if a table is nonsense.
"""

from __future__ import annotations

import struct

import numpy as np

from .elf import EXECUTE, NEEDED, SYMTAB, WRITE, Damage, Image, Table

HASH, RELA, RELASZ, RELAENT, INIT, FINI, REL, PLTREL, TEXTREL, JMPREL = 4, 7, 8, 9, 12, 13, 17, 20, 22, 23
PLTRELSZ, INIT_ARRAY, FINI_ARRAY, INIT_ARRAYSZ, FINI_ARRAYSZ, FLAGS = 2, 25, 26, 27, 28, 30
PREINIT_ARRAY, RELRSZ, RELR, RELRENT = 32, 35, 36, 37
GNU_HASH, VERSYM, RELACOUNT, VERDEF, VERNEED = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFF9, 0x6FFFFFFC, 0x6FFFFFFE
_TEXT_RELOCATIONS = 4  # bits of FLAGS
_RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMBOL = np.dtype([
    ("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8"),
])  # fmt: skip
_ABSOLUTE, _FUNCTION, _THREAD, _INDIRECT = 0xFFF1, 2, 6, 10
_RELATIVE, _CALLED, _POINTER = (8, 1027), (37, 1032), (1, 257)  # numbers on x86-64 and AArch64
_WIDE = (36, 1031)  # descriptors of thread-local data, of 16 bytes


def check_tables(image: Image) -> Table:
    """Raise `Damage` if a table points outside the library; return the symbols."""
    relocations = _relocations(image)
    symbols = _symbols(image, int(relocations["symbol"].max(initial=0)) + 1)
    if relocations["symbol"].max(initial=0) >= len(symbols):
        raise Damage("a relocation names a symbol that is not there")
    packed = _packed(image)
    _check_versions(image, len(symbols))
    _check_calls(image, relocations, packed)
    return symbols


def find_symbol(image: Image, symbols: Table, name: str) -> int | None:
    """Return the address of a symbol that the library defines."""
    wanted = name.encode()
    for at in np.flatnonzero(symbols["section"]):
        if image.text(int(symbols["name"][at])).encode("utf-8", "surrogateescape") == wanted:
            return int(symbols["value"][at])
    return None


def _relocations(image: Image) -> Table:
    tags = image.tags
    if REL in tags or tags.get(PLTREL, RELA) != RELA or tags.get(RELAENT, 24) != 24:
        raise Damage("its relocations are of an unknown kind")
    parts = []
    for start, size in ((RELA, RELASZ), (JMPREL, PLTRELSZ)):
        if start in tags and size in tags:
            if tags[size] % 24:
                raise Damage("its relocations are incomplete")
            data = image.bytes_at(tags[start], tags[size], "table of relocations")
            parts.append(np.frombuffer(data, _RELOCATION))
    first = parts[0] if RELA in tags and parts else np.zeros(0, _RELOCATION)
    if tags.get(RELACOUNT, 0) > len(first) or not np.isin(first["type"][: tags.get(RELACOUNT, 0)], _RELATIVE).all():
        raise Damage("it has more or fewer relocations than it says")
    every = np.concatenate([np.zeros(0, _RELOCATION), *parts])
    found: Table = every[every["type"] != 0]
    is_text = TEXTREL in tags or tags.get(FLAGS, 0) & _TEXT_RELOCATIONS
    flag, wide = 0 if is_text else WRITE, np.isin(found["type"], _WIDE)
    inside = image.is_in(found["offset"], flag, 8) & (~wide | image.is_in(found["offset"], flag, 16))
    if not inside.all():
        raise Damage("a relocation changes memory outside of the library")
    relative = found[np.isin(found["type"], _RELATIVE)]
    if not image.is_in(relative["addend"].view("<u8")).all():
        raise Damage("a relocation leads out of the library")
    called = found[np.isin(found["type"], _CALLED)]
    if not image.is_in(called["addend"].view("<u8"), EXECUTE, 1).all():
        raise Damage("a relocation calls something that is not code")
    return found


def _packed(image: Image) -> set[int]:
    """Return the addresses that packed relative relocations change (DT_RELR)."""
    tags = image.tags
    if RELR not in tags:
        return set()
    if tags.get(RELRENT, 8) != 8 or tags.get(RELRSZ, 0) % 8:
        raise Damage("its relocations are of an unknown kind")
    places: list[int] = []
    at = 0
    for word in np.frombuffer(image.bytes_at(tags[RELR], tags.get(RELRSZ, 0), "table of relocations"), "<u8").tolist():
        if not word & 1:
            places.append(word)
            at = word + 8
        else:
            places += [at + 8 * k for k in range(63) if word >> (k + 1) & 1]
            at += 63 * 8
    if not image.is_in(np.array(places, "<u8"), WRITE, 8).all():
        raise Damage("a relocation changes memory outside of the library")
    return set(places)


def _symbols(image: Image, used: int) -> Table:
    tags = image.tags
    count = used
    if HASH in tags:
        count = max(count, _plain_hash(image))
    if GNU_HASH in tags:
        count = max(count, _gnu_hash(image))
    found = np.frombuffer(image.bytes_at(tags[SYMTAB], 24 * count, "symbol table"), _SYMBOL)
    if (found["name"] >= image.text_size).any():
        raise Damage("it names a string outside its string table")
    kind = found["info"] & 15
    defined = found[(found["section"] != 0) & (found["section"] != _ABSOLUTE) & (kind != _THREAD)]
    kind = defined["info"] & 15
    functions = defined[(kind == _FUNCTION) | (kind == _INDIRECT)]
    if not image.is_in(defined["value"]).all() or not image.is_in(functions["value"], EXECUTE, 1).all():
        raise Damage("a symbol lies outside of the library")
    return found


def _plain_hash(image: Image) -> int:
    words = np.frombuffer(_words(image.rest_at(image.tags[HASH], "hash table")), "<u4")
    buckets, count = (int(n) for n in words[:2]) if len(words) > 1 else (0, 0)
    if not buckets or len(words) < 2 + buckets + count:
        raise Damage("its hash table is outside of the file")
    heads, chain = words[2 : 2 + buckets].tolist(), words[2 + buckets : 2 + buckets + count].tolist()
    left = count
    for at in heads:
        while at:
            left -= 1
            if at >= count or left < 0:
                raise Damage("its hash table does not end")
            at = chain[at]
    return count


def _gnu_hash(image: Image) -> int:
    """Return the number of symbols: a table of this kind ends with the last symbol's chain."""
    data = _words(image.rest_at(image.tags[GNU_HASH], "hash table"))
    if len(data) < 16:
        raise Damage("its hash table is outside of the file")
    buckets, first, filter_words = (int(n) for n in struct.unpack_from("<3I", data))
    if not buckets or not filter_words or filter_words & (filter_words - 1):
        raise Damage("its hash table has impossible sizes")
    start = 16 + 8 * filter_words
    if start + 4 * buckets > len(data):
        raise Damage("its hash table is outside of the file")
    heads = np.frombuffer(data[start : start + 4 * buckets], "<u4")
    heads = heads[heads != 0]
    if not len(heads):
        return first
    if heads.min() < first:
        raise Damage("its hash table names symbols that are not there")
    ends = np.flatnonzero(np.frombuffer(data[start + 4 * buckets :], "<u4") & 1)
    last = np.searchsorted(ends, int(heads.max()) - first)
    if last == len(ends):
        raise Damage("its hash table does not end")
    return first + int(ends[last]) + 1


def _words(data: memoryview) -> memoryview:
    return data[: len(data) & ~3]


def _check_versions(image: Image, count: int) -> None:
    tags = image.tags
    needed = _needed_versions(image) if VERNEED in tags else []
    defined = _defined_versions(image) if VERDEF in tags else []
    if VERSYM not in tags:
        return
    used = np.frombuffer(image.bytes_at(tags[VERSYM], 2 * count, "table of versions"), "<u2") & 0x7FFF
    if int(used.max(initial=0)) > max([1, *needed, *defined] if VERNEED in tags or VERDEF in tags else [-1]):
        raise Damage("a symbol has a version that is not there")


def _needed_versions(image: Image) -> list[int]:
    data, names, found, at = image.rest_at(image.tags[VERNEED], "versions"), image.texts(NEEDED), [], 0
    while True:
        version, _, file, below, step = _unpacked("<HHIII", data, at)
        if version != 1 or image.text(file) not in names:
            raise Damage("it needs versions of a library that it does not name")
        inner = at + below
        while True:
            _, _, other, name, further = _unpacked("<IHHII", data, inner)
            image.text(name)
            found.append(other & 0x7FFF)
            if not further:
                break
            inner += further
        if not step:
            return found
        at += step


def _defined_versions(image: Image) -> list[int]:
    data, found, at = image.rest_at(image.tags[VERDEF], "versions"), [], 0
    while True:
        version, _, number, _, _, below, step = _unpacked("<HHHHIII", data, at)
        if version != 1:
            raise Damage("its versions are of an unknown kind")
        image.text(_unpacked("<II", data, at + below)[0])
        found.append(number & 0x7FFF)
        if not step:
            return found
        at += step


def _unpacked(form: str, data: memoryview, at: int) -> tuple[int, ...]:
    if at + struct.calcsize(form) > len(data):
        raise Damage("its versions are outside of the file")
    return struct.unpack_from(form, data, at)


def _check_calls(image: Image, relocations: Table, packed: set[int]) -> None:
    """Check that everything the linker calls on load and unload is code: functions, and arrays of pointers to them."""
    tags = image.tags
    own = np.array([tags[tag] for tag in (INIT, FINI) if tag in tags], "<u8")
    if not image.is_in(own, EXECUTE, 1).all() or PREINIT_ARRAY in tags:
        raise Damage("its initialiser is not code")
    for start, size in ((INIT_ARRAY, INIT_ARRAYSZ), (FINI_ARRAY, FINI_ARRAYSZ)):
        if start not in tags:
            continue
        if tags.get(size, 0) % 8:
            raise Damage("its list of initialisers is incomplete")
        data = image.bytes_at(tags[start], tags.get(size, 0), "list of initialisers")
        places = tags[start] + 8 * np.arange(tags.get(size, 0) // 8, dtype="<u8")
        for place, value in zip(places.tolist(), np.frombuffer(data, "<u8").tolist(), strict=True):
            if not _is_call(image, relocations[relocations["offset"] == place], value if place in packed else None):
                raise Damage("an initialiser is not code")


def _is_call(image: Image, changes: Table, packed: int | None) -> bool:
    """Tell whether relocations make a pointer to code: to an address in the library, or to a symbol."""
    if len(changes) + (packed is not None) != 1:
        return False
    if packed is None and int(changes["type"][0]) in _POINTER:
        return True
    if packed is None and int(changes["type"][0]) not in _RELATIVE:
        return False
    address = packed if packed is not None else int(changes["addend"][0])
    return bool(image.is_in(np.array([address], "<i8").view("<u8"), EXECUTE, 1)[0])
