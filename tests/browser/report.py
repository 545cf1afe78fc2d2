"""The page of a report in headless Chromium, wide and narrow. `make test-browser`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import SECONDS, chromium
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import tilewright as tw
from tilewright.lowering.interpreter.timeline.record import TimelineEvent
from tilewright.tools.report.page import page
from tilewright.tools.report.timeline import timeline_data

LEVELS = [
    {"name": name, "text": text, "lines": [*range(1, text.count("\n") + 1)]}
    for name, text in (
        ("source", "// A comment.\nfunc.func @k() {\n  func.return\n}\n"),
        ("atoms", "builtin.module\nfunc.func @k() {\n  func.return\n}\n"),
        ("PTX", "\n.visible .entry k()\n  mov.u32 %r1, %tid.x;\n  ret;\n"),
    )
]


def two_ctas() -> tw.Timeline:
    """The events of a warp of each of two CTAs: 20,000, each of its line, in 100,000 cycles."""
    timeline = tw.Timeline()
    timeline.blocks = ["(0, 0, 0)", "(1, 0, 0)"]
    timeline.events = [
        TimelineEvent(cta, 0, "run", "add", start, start + 3, 1 + start % 3)
        for cta in range(2)
        for start in range(0, 100_000, 5)
    ]
    return timeline


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    data = {"name": "k.mlir", "arch": "sm_90a", "levels": LEVELS, "pictures": [], "conflicts": [],
            "errors": [], "timeline": timeline_data(two_ctas()), "grid": 8}  # fmt: skip
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(data))
    with chromium() as driver:
        driver.set_window_size(1280, 900)
        driver.get(Path(path).as_uri())
        yield driver
        severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert not severe


def panes(driver: webdriver.Chrome) -> list[str]:
    """The levels that are seen."""
    shown = driver.find_elements(By.CSS_SELECTOR, ".pane h3")
    return [one.text for one in shown if one.is_displayed()]


def test_lines_light_up_together_in_colours(driver: webdriver.Chrome):
    assert panes(driver) == ["source", "atoms", "PTX"]
    coloured = (
        "return [...document.querySelectorAll('.row span')].map(e => e.className + e.innerText)"
    )
    shown = driver.execute_script(coloured)
    assert {"comment// A comment.", "function@k", "keywordmov.u32", "variable%tid.x"} <= set(shown)
    [row] = [one for one in driver.find_elements(By.CSS_SELECTOR, ".row") if "mov" in one.text]
    ActionChains(driver).move_to_element(row).perform()
    lit = driver.find_elements(By.CSS_SELECTOR, ".row.lit")
    assert ["func.return" in one.text for one in lit] == [True, True, False]


def test_a_narrow_page_shows_a_level_at_a_time(driver: webdriver.Chrome):
    driver.set_window_size(800, 900)
    assert panes(driver) == ["source"]
    driver.find_element(By.CSS_SELECTOR, "#choose button:last-child").click()
    assert panes(driver) == ["PTX"]
    assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    driver.set_window_size(1280, 900)
    assert panes(driver) == ["source", "atoms", "PTX"]


def test_other_ctas_are_shown_on_request(driver: webdriver.Chrome):
    canvas = driver.find_element(By.CSS_SELECTOR, "#timeline canvas")
    one = canvas.size["height"]
    driver.find_element(By.CSS_SELECTOR, "#ctas button:last-child").click()
    assert canvas.size["height"] == one + 15
    driver.find_element(By.CSS_SELECTOR, "#ctas button:last-child").click()
    assert canvas.size["height"] == one


def test_zooming_loads_what_is_there(driver: webdriver.Chrome):
    """Of the whole the page has an event of each grain; where it is zoomed to, all of them."""
    unpacked = "return data.timeline.tracks[0].parts.map(part => part.events?.length || 0)"
    loads = driver.execute_script(unpacked)
    assert len(loads) == 3 and not any(loads)
    canvas = driver.find_element(By.CSS_SELECTOR, "#timeline canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    for _ in range(20):
        ActionChains(driver).scroll_from_origin(
            ScrollOrigin.from_element(canvas, -100, 5), 0, -100
        ).perform()
    WebDriverWait(driver, SECONDS).until(lambda _: any(driver.execute_script(unpacked)))
    loads = driver.execute_script(unpacked)
    assert loads[2] == 0 and 8192 in loads
    ActionChains(driver).move_to_element_with_offset(canvas, -100, 5).perform()
    tip = driver.find_element(By.ID, "tip").text
    assert tip.startswith("add\ncycle ") and ", 3 cycles, line " in tip
