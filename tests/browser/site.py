"""The documentation site in headless Chromium, as `make docs` builds it. `make test-browser`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from chromium import SECONDS, chromium
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def driver(site: Path) -> Iterator[webdriver.Chrome]:
    """A browser at the index."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    Thread(target=server.serve_forever, daemon=True).start()
    with server, chromium() as driver:
        driver.set_window_size(1280, 900)
        driver.get(f"http://127.0.0.1:{server.server_port}/index.html")
        yield driver
        server.shutdown()


def test_nothing_of_python_is_published(site: Path):
    assert not [*site.rglob("__pycache__"), *site.rglob("*.pyc")]


@pytest.mark.parametrize(
    ("word", "page"),
    [("padding_mode", "cutile.html"), ("autotune", "triton.html"), ("cp.async.bulk", "ops_ptx")],
)
def test_search_finds_words_of_code(driver: webdriver.Chrome, word: str, page: str):
    field = driver.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]")
    driver.execute_script("arguments[0].focus(); arguments[0].value = ''", field)
    field.send_keys(word)

    def results(_: webdriver.Chrome) -> list[str]:
        told = "return [...document.querySelectorAll('.md-search-result__link')].map(e => e.href)"
        return [link for link in driver.execute_script(told) if page in link]

    assert WebDriverWait(driver, SECONDS).until(results)


def test_the_site_is_dark_where_one_asks_for_it(driver: webdriver.Chrome):
    scheme = "return document.body.dataset.mdColorScheme"
    shown = driver.execute_script(scheme)
    label = (
        "return document.querySelector('.md-header label[for^=__palette]:not([hidden])').click()"
    )
    driver.execute_script(label)
    assert {shown, driver.execute_script(scheme)} == {"default", "slate"}


def test_pages_are_not_endless(driver: webdriver.Chrome, site: Path):
    """Those of the most text."""
    base = driver.current_url.rpartition("/")[0]
    large = sorted(site.glob("*.html"), key=lambda path: path.stat().st_size)[-5:]
    for path in large:
        driver.get(f"{base}/{path.name}")
        assert driver.execute_script("return document.body.scrollHeight") < 60_000, path.name
