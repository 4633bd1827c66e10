"""Generate code that finds the best CPU level of a library that this CPU supports."""

from __future__ import annotations

from .c_entry import LEVEL
from .platforms import Platform

# CPUID leaf 1 (ecx), leaf 7 (ebx), leaf 0x80000001 (ecx), and the state that the system saves (XCR0).
_V3 = {"ecx1": 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29, "ebx7": 1 << 3 | 1 << 5 | 1 << 8, "ecx8": 1 << 5}
_V4 = {"ebx7": 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31}
_STATE = {3: 0x6, 4: 0xE6}
_CPUID = 'asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"'
_XGETBV = 'asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"'
_ALL_BITS = 0xFFFFFFFF


def cpu_text(platform: Platform, prefix: str) -> str:
    """Generate the function that entry points call, and the one that names the level."""
    names = [level.name for level in platform.levels]
    texts = [f'@weft.cpu{k} = internal constant [{len(n) + 1} x i8] c"{n}\\00"' for k, n in enumerate(names)]
    pointers = ", ".join(f"ptr @weft.cpu{k}" for k in range(len(names)))
    return (
        "\n".join(texts)
        + f"""
@weft.cpus = internal constant [{len(names)} x ptr] [{pointers}]

define ptr @{prefix}_cpu() {{
entry:
  %level = call i32 {LEVEL}()
  %usable = icmp sge i32 %level, 0
  br i1 %usable, label %named, label %none
named:
  %place = zext i32 %level to i64
  %at = getelementptr ptr, ptr @weft.cpus, i64 %place
  %name = load ptr, ptr %at, align 8
  ret ptr %name
none:
  ret ptr null
}}
{_x86_text(platform) if platform.tells_levels else _only_text()}"""
    )


def _only_text() -> str:
    return f"\ndefine internal i32 {LEVEL}() {{\n  ret i32 0\n}}\n"


def _x86_text(platform: Platform) -> str:
    """Detect the level once and keep it plus 2, so that 0 means not yet known."""
    picks, best = [], "1"
    for k, level in enumerate(platform.levels):
        picks.append(f"  %best{k} = select i1 %has{level.number}, i32 {k + 2}, i32 {best}")
        best = f"%best{k}"
    return f"""
@weft.found = internal global i32 0

define internal i32 {LEVEL}() {{
entry:
  %found = load atomic i32, ptr @weft.found monotonic, align 4
  %known = icmp ne i32 %found, 0
  br i1 %known, label %done, label %look
look:
  %l0 = call {{i32, i32, i32, i32}} {_CPUID}(i32 0, i32 0)
  %most = extractvalue {{i32, i32, i32, i32}} %l0, 0
  %l1 = call {{i32, i32, i32, i32}} {_CPUID}(i32 1, i32 0)
  %ecx1 = extractvalue {{i32, i32, i32, i32}} %l1, 2
  %saves_bit = and i32 %ecx1, {1 << 27}
  %saves = icmp ne i32 %saves_bit, 0
  %far = icmp uge i32 %most, 7
  %modern = and i1 %saves, %far
  br i1 %modern, label %ask, label %keep
ask:
  %l7 = call {{i32, i32, i32, i32}} {_CPUID}(i32 7, i32 0)
  %ebx7 = extractvalue {{i32, i32, i32, i32}} %l7, 1
  %l8 = call {{i32, i32, i32, i32}} {_CPUID}(i32 {0x80000001 - (1 << 32)}, i32 0)
  %ecx8 = extractvalue {{i32, i32, i32, i32}} %l8, 2
  %x = call {{i32, i32}} {_XGETBV}(i32 0)
  %xcr0 = extractvalue {{i32, i32}} %x, 0
{_has(3, _V3, "true")}
{_has(4, _V4, "%has3")}
{chr(10).join(picks)}
  br label %keep
keep:
  %answer = phi i32 [ 1, %look ], [ {best}, %ask ]
  store atomic i32 %answer, ptr @weft.found monotonic, align 4
  br label %done
done:
  %kept = phi i32 [ %found, %entry ], [ %answer, %keep ]
  %level = sub i32 %kept, 2
  ret i32 %level
}}
"""


def _has(level: int, wanted: dict[str, int], below: str) -> str:
    """Compute `%has<level>`: whether all its bits are set, and those of the level below."""
    lines, last = [], below
    for k, (register, bits) in enumerate((wanted | {"xcr0": _STATE[level]}).items()):
        signed = bits - (1 << 32) if bits > _ALL_BITS >> 1 else bits
        name = f"%has{level}" if k == len(wanted) else f"%some{level}.{k}"
        lines += [
            f"  %bits{level}.{k} = and i32 %{register}, {signed}",
            f"  %is{level}.{k} = icmp eq i32 %bits{level}.{k}, {signed}",
            f"  {name} = and i1 %is{level}.{k}, {last}",
        ]
        last = name
    return "\n".join(lines)
