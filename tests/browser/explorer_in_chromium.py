"""Open explorer pages in headless Chromium: hover, choose a pass, search, dark and light, a narrow window, 600 nodes.

`make test-browser` installs what this needs and runs it; `make test` does not. SCREENSHOTS=folder keeps pictures.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from playwright.sync_api import Browser, Page, sync_playwright

TEXT = """\
kernel softmax(x: f32[n, m]) -> f32[n, m] {
    let e = exp(x / 2 - max(x / 2, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
kernel cubed(x: f32[n, n]) -> f32[n, n] = tanh((x @ x) @ x)
"""
X = np.ones((64, 64), np.float32)


@weft.jit(whole=True)
def long(x: Any) -> Any:
    """About 600 operations, which `whole` has traced."""
    y = x
    for k in range(1, 201):
        y = (y + k) * x - y
    return y


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, module = tmp_path_factory.mktemp("pages"), weft.compile(TEXT)
    pages = {
        "softmax": module.softmax.lower(X).html(),
        "cubed": module.cubed.lower(X).html(),
        "long": long.lower(np.ones(64)).html(),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


def opened(browser: Browser, file: Path, width: int = 1400, height: int = 900, scheme: str = "light") -> Page:
    """Open a page offline, and fail on errors in it."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page.context.set_offline(True)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    return page


def keep(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        os.makedirs(folder, exist_ok=True)
        page.screenshot(path=os.path.join(folder, f"{name}.png"))


def lit(page: Page, pane: str) -> list[str]:
    return page.locator(f"#{pane} .l.lit .tx").all_inner_texts()


def test_hovering_lights_kin_in_the_other_panes(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["softmax"])
    page.locator("#ir .l", has_text="= div(").hover()
    assert len(lit(page, "source")) == 1 and "return e / sum" in lit(page, "source")[0]
    page.locator("#ir .l", has_text="= div(").click()  # the other panes scroll to their kin
    for pane, kin in (("llvm", "fdiv"), ("asm", "vdivps")):
        page.locator(f"#{pane} .l.lit", has_text=kin).first.wait_for()  # panes are filled while they scroll
    keep(page, "hover")
    page.keyboard.press("Escape")
    assert not any(lit(page, pane) for pane in ("source", "ir", "llvm", "asm"))
    page.locator("#source .l", has_text="let e =").hover()
    assert {"exp", "max"} <= {text.split("= ")[1].split("(")[0] for text in lit(page, "ir") if "= " in text}
    page.locator("#find").fill("vdivps")
    page.locator("#asm .l", has_text="vdivps").first.hover()
    assert any("= div(" in text for text in lit(page, "ir")) and "return e / sum" in lit(page, "source")[0]


def test_choosing_a_pass(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["softmax"])
    grey, live = page.locator(".passes .same"), page.locator(".passes button:not(.same)")
    assert "split-complex" in grey.first.inner_text() and live.count() >= 6
    page.get_by_role("button", name="merge-duplicates").click()
    assert page.locator("#ir .l.removed").count() == 3 and "merge-duplicates" in page.locator("#ir h2").inner_text()
    keep(page, "pass")
    page.get_by_role("button", name="split-complex").click()
    assert page.locator("#ir .l.removed, #ir .l.added, #ir .l.changed").count() == 0
    page.keyboard.press("ArrowUp")
    assert "select-kernels" in page.locator("#ir h2").inner_text()


def test_searching(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["softmax"])
    page.keyboard.press("/")
    page.keyboard.type("keepdims")
    assert page.locator("#source .l.found").count() == 2 and "line" in page.locator("#count").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("#count").inner_text().startswith("1 of")
    page.locator("#find").fill("no such words")
    assert page.locator("#count").inner_text() == "0 lines" and page.locator(".l.found").count() == 0


def test_dark_and_light(browser: Browser, files: dict[str, Path]) -> None:
    colours = []
    for scheme in ("light", "dark"):
        page = opened(browser, files["cubed"], scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        keep(page, scheme)
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == colours[0] != colours[1]


def test_a_narrow_window(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["softmax"], 390, 800)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [page.locator(f"#{pane}").bounding_box() for pane in ("source", "ir", "llvm", "asm")]
    assert all(a and b and a["y"] + a["height"] <= b["y"] + 1 for a, b in pairwise(tops))
    keep(page, "narrow")


def test_the_graph_and_its_reasons(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["cubed"])
    assert page.locator("#graph svg").count() == 0  # drawn when it is opened
    page.locator("#tab-graph").click()
    assert page.locator("#graph .region").count() == 2
    assert "a product reads whole rows" in (page.locator("#graph .reason").text_content() or "")
    keep(page, "graph")
    page.locator("#graph .op", has_text="tanh").click()
    assert any("tanh(" in text for text in lit(page, "ir")) and "tanh" in lit(page, "source")[0]
    page.locator("#tab-cost").click()
    assert page.locator("#cost .bar").count() >= 8
    keep(page, "cost")


def test_six_hundred_nodes_open_in_a_second(browser: Browser, files: dict[str, Path]) -> None:
    times = []
    for _ in range(3):
        page = opened(browser, files["long"])
        times.append(page.evaluate("performance.now()"))
        assert page.locator("#ir .l").count() < 120  # only what is in view
        page.close()
    assert min(times) < 1000, times
    page = opened(browser, files["long"])
    page.locator("#tab-graph").click()
    assert page.locator("#graph .op").count() >= 590
    keep(page, "long")
