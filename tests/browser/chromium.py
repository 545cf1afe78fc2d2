"""Headless Chromium, driven by Selenium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from selenium import webdriver

SECONDS = 30


def installed(program: str) -> str:
    """The path of a program that has to be here."""
    path = shutil.which(program)
    assert path is not None, f"no {program}: apt-get install chromium chromium-driver"
    return path


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """A browser of its own."""
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = installed("chromium")
    service = webdriver.ChromeService(installed("chromedriver"))
    with webdriver.Chrome(options, service) as driver:
        yield driver
