"""The playground in headless Chromium: what a user types, and what they see. `make test-browser`.

Without a Chromium and its driver every test is an error: Debian has both as chromium and
chromium-driver.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest
from chromium import SECONDS, chromium
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import tilewright as tw
from tilewright.tools.playground.server import PlaygroundServer

EXAMPLES = Path(__file__).parents[2] / "examples"


class Page:
    """The page, and what is on it by id."""

    def __init__(self, driver: webdriver.Chrome):
        self.driver = driver

    def __getitem__(self, name: str) -> Any:
        return self.driver.find_element(By.ID, name)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def until(self, condition: Callable[[], Any]) -> Any:
        """The first true value of a condition, within a time."""
        return WebDriverWait(self.driver, SECONDS).until(lambda _: condition())

    def view(self, name: str) -> None:
        self.all(f"nav [data-view={name}]")[0].click()

    def rows(self, place: str, kind: str = "") -> list[str]:
        """The lines that a pane shows, in order, without their numbers."""
        told = (
            "return [...document.querySelectorAll(arguments[0])].sort((a, b) => a.offsetTop -"
            " b.offsetTop).map(row => row.textContent.slice(row.firstChild.textContent.length))"
        )
        return self.driver.execute_script(told, f"{place} .row{kind}")

    def tab(self, title: str) -> Any:
        """The tab of a level."""
        return next(one for one in self.all("#levels button") if one.text == title)

    def row(self, words: str) -> Any:
        """The first line of the level that has these words."""
        return next(one for one in self.all("#level .row") if words in one.text)

    def type(self, name: str, text: str) -> None:
        self[name].send_keys(Keys.CONTROL, "a")
        self[name].send_keys(text)

    def set(self, text: str) -> None:
        """Put a text into the editor, as pasting it does."""
        fill = (
            "const text = document.getElementById('text'); text.value = arguments[0];"
            "text.dispatchEvent(new Event('input'));"
        )
        self.driver.execute_script(fill, text)

    def drawn(self, selector: str) -> list[list[str]]:
        """The cells of the pictures that are seen there."""

        def cells(source: str) -> list[str]:
            kind, _, data = source.partition(",")
            raw = self.driver.execute_script("return decodeURIComponent(arguments[0])", data)
            svg = base64.b64decode(raw).decode() if kind.endswith("base64") else raw
            found = ElementTree.fromstring(svg).findall("{*}text[@class='cell']")
            return [cell.text or "" for cell in found]

        told = (
            "return Promise.all([...document.querySelectorAll(arguments[0])].map(image =>"
            " image.decode().then(() => image.src)))"  # an error where it is no picture
        )
        return [cells(source) for source in self.driver.execute_script(told, f"{selector} img")]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with PlaygroundServer(0, EXAMPLES, python=True) as server, chromium() as driver:
        thread = Thread(target=server.serve_forever)
        thread.start()
        driver.set_window_size(1400, 900)
        driver.get(f"http://127.0.0.1:{server.server_port}/")
        page = Page(driver)
        page.until(lambda: page["text"].get_property("value"))
        yield page
        severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        server.shutdown()
        thread.join()
        assert not severe


def test_a_mistake_is_marked_while_typing(page: Page):
    text = page["text"].get_property("value")
    page.set(text.replace("16x8x16", "16x8x12"))
    page.until(lambda: page.all("#editor .wrong"))
    assert "".join(one.text for one in page.all("#editor .wrong")) == "16x8x12"
    [said] = page.all("#diagnostics button")
    assert said.text.startswith("10:40: 'sm80.mma' expected") and "16x8x16" in said.text
    said.click()
    chosen = "const text = document.activeElement;" \
        "return text.value.slice(text.selectionStart, text.selectionEnd)"  # fmt: skip
    assert page.driver.execute_script(chosen) == "16x8x12"
    page["text"].send_keys("16x8x16")
    page.until(lambda: not page.all("#diagnostics li"))
    assert page["text"].get_property("value") == text


def test_a_layout_at_the_cursor_is_drawn(page: Page):
    text = page["text"].get_property("value")
    move = "arguments[0].focus(); arguments[0].setSelectionRange(arguments[1], arguments[1])"
    page.driver.execute_script(move, page["text"], text.index("((4,8)") + 3)
    page.until(lambda: page.all("#about img"))
    [cells] = page.drawn("#about")
    assert len(cells) == 256 and cells[:3] == ["0", "16", "8"]
    page.driver.execute_script(move, page["text"], text.index("sm80.mma") + 3)
    page.until(lambda: "mma.sync.aligned.m16n8k16" in page["about"].text)


def test_levels_down_to_ptx(page: Page):
    Select(page["file"]).select_by_visible_text("mma.mlir")
    text = (EXAMPLES / "mma.mlir").read_text()
    page.until(lambda: page["text"].get_property("value") == text)
    Select(page["arch"]).select_by_visible_text("sm_90a")
    rows = tw.compile(text, "sm_90a", name="kernel.mlir").ptx.splitlines()
    page["lower"].click()
    page.until(lambda: page.rows("#level")[:20] == rows[:20])
    assert page.tab("PTX").get_attribute("aria-selected") == "true"
    page.tab("convert-cute-nvgpu-to-ptx").click()
    assert any("ptx.entry" in row for row in page.rows("#level"))


def test_lines_light_up_across_levels_while_typing(page: Page):
    text = page["text"].get_property("value")
    page.tab("PTX").click()
    move = "arguments[0].focus(); arguments[0].setSelectionRange(arguments[1], arguments[1])"
    page.driver.execute_script(move, page["text"], text.index("cute_nvgpu.sm80.mma"))
    page.until(lambda: "mma.sync.aligned.m16n8k16" in "".join(page.rows("#level", ".lit")))
    assert "st.global" not in "".join(page.rows("#level", ".lit"))
    ActionChains(page.driver).move_to_element(page.row("st.global")).perform()
    page.until(lambda: "memref.store" in "".join(page.rows("#editor", ".lit")))
    page.set(text.replace("16x8x16", "16x8x8").replace("<8xbf16>", "<4xbf16>")
             .replace("!b = !cute_nvgpu.fragment<4x", "!b = !cute_nvgpu.fragment<2x"))  # fmt: skip
    page.until(lambda: "m16n8k8" in "".join(page.rows("#level")))
    numbers = [one.text for one in page.all("#editor .row i")]
    assert sorted(map(int, numbers)) == [*range(1, text.count("\n") + 2)]


def test_examples_and_links_that_hold_the_text(page: Page):
    Select(page["file"]).select_by_visible_text("example:axpy")
    text = (EXAMPLES / "axpy.mlir").read_text()
    page.until(lambda: page["text"].get_property("value") == text)
    page.set("// 😀 ü\n" + text)
    link = page["link"].get_attribute("href")
    page.driver.get("about:blank")
    page.driver.get(link)
    page.until(lambda: page["text"].get_property("value") == "// 😀 ü\n" + text)


def test_texts_have_colours(page: Page):
    def kinds(place: str) -> set[tuple[str, str]]:
        told = (
            "return [...document.querySelectorAll(arguments[0])].map(one => [one.className,"
            " one.textContent])"
        )
        return set(map(tuple, page.driver.execute_script(told, f"{place} .row span")))

    Select(page["file"]).select_by_visible_text("example:axpy")
    page.until(lambda: ("keyword", "arith.mulf") in kinds("#editor"))
    assert {("function", "@axpy"), ("variable", "%xi"), ("type", "f32")} <= kinds("#editor")
    page["lower"].click()
    page.until(lambda: ("function", "axpy") in kinds("#level"))
    assert {("variable", "%tid.x"), ("decorator", ".entry"), ("type", ".u64")} <= kinds("#level")
    page.set("@ct.kernel\ndef f():\n    return 'x'  # y\n")
    page.until(lambda: ("function", "f") in kinds("#editor"))
    assert {("keyword", "return"), ("string", "'x'"), ("comment", "# y")} <= kinds("#editor")


def test_a_run_of_a_kernel(page: Page):
    """On a guess, and on arguments; what goes wrong is marked."""
    Select(page["file"]).select_by_visible_text("example:axpy")
    page.until(lambda: "@axpy" in page["text"].get_property("value"))
    page["run"].click()
    page.until(lambda: page["arguments"].get_property("value").startswith("--grid 1 --block 32 "))
    assert page.rows("#level")[0] == "x: 16384 float32"
    page.type("arguments", "--grid 2 --block 4 zeros:8 zeros:8 2.0 8")
    page["run"].click()
    page.until(lambda: "[0. 0. 0. 0. 0. 0. 0. 0.]" in page.rows("#level"))
    page.type("arguments", "--grid 1 --block 8 4 8 2.0 8\n")
    page.until(lambda: page.all("#diagnostics button"))
    [said] = page.all("#diagnostics button")
    assert said.text.startswith("7:5: 'memref.load' read out of bounds")
    assert any("note: there %i = 4" in row for row in page.rows("#level"))


def test_a_run_of_python(page: Page):
    """Of cuTile with its levels, of Triton with a mistake."""
    Select(page["file"]).select_by_visible_text("Python: cuTile")
    page.until(lambda: "cuda.tile" in page["text"].get_property("value"))
    page["run"].click()
    page.until(lambda: page.rows("#level")[0].startswith("[  1.   2.   3."))
    page.tab("PTX").click()
    assert ".visible .entry k(" in page.rows("#level")
    Select(page["file"]).select_by_visible_text("Python: Triton")
    page.until(lambda: "triton" in page["text"].get_property("value"))
    page.set(page["text"].get_property("value").replace("x + i, inside", "x + i"))
    page["run"].click()
    page.until(lambda: page.all("#diagnostics button"))
    [said] = page.all("#diagnostics button")
    assert said.text.startswith("10:23: 'tl.load' expected an element of x")


def test_narrow_pages_have_tabs(page: Page):
    page.driver.set_window_size(800, 900)
    columns = {tab.text: tab for tab in page.all("#columns button")}
    columns["Text"].click()
    assert page["editor"].is_displayed() and not page["level"].is_displayed()
    page["lower"].click()
    assert page["level"].is_displayed() and not page["editor"].is_displayed()
    for view in ("layouts", "instruction", "ir"):
        page.view(view)
        assert page.driver.execute_script("return document.body.scrollWidth <= innerWidth")
    page.driver.set_window_size(1400, 900)
    assert page["editor"].is_displayed() and page["level"].is_displayed()


def test_any_target_says_which(page: Page):
    Select(page["file"]).select_by_visible_text("example:axpy")
    Select(page["arch"]).select_by_visible_text("any")
    page.until(lambda: "@axpy" in page["text"].get_property("value"))
    page["lower"].click()
    page.until(lambda: page["for"].text == "for sm_80, the lowest that it needs")
    Select(page["arch"]).select_by_visible_text("sm_90a")
    page["lower"].click()
    page.until(lambda: page["for"].text == "")


def test_layout_algebra(page: Page):
    page.view("layouts")
    page.until(lambda: page["result"].text == "((3,4),(2,2)):((8,1),(24,4))")
    assert len(page.drawn("#pictures")) == 2
    Select(page["operation"]).select_by_visible_text("complement")
    page.type("a", "4:2")
    page.type("b", "16")
    page.until(lambda: page["result"].text == "(2,2):(1,8)")
    assert page.drawn("#pictures")[-1] == ["0", "8", "1", "9"]
    page["reuse"].click()
    page.until(lambda: page["a"].get_property("value") == "(2,2):(1,8)")
    page.type("b", "((")
    page.until(lambda: page["wrong"].text.startswith("b: expected"))


def test_an_instruction(page: Page):
    page.view("instruction")
    page.until(lambda: "computes" in page["explanation"].text)
    page.until(lambda: len(page.all("#fragments img")) == 4)
    assert page.drawn("#fragments")[0][:3] == ["T0V0", "T0V1", "T1V0"]
    page.type("mnemonic", "mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32")
    page.until(lambda: "nearest legal" in page["illegal"].text)
    assert not page.all("#fragments img")
