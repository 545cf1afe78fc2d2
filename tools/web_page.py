"""Pages for a browser: the frame and the style that all have, and the parts of each."""

from importlib.resources import files

_SHARED = "tilewright.tools"


def part(package: str, kind: str) -> str:
    """`page.html`, `page.css` or `page.js` of a package; of styles and scripts what all have comes
    first."""
    own = files(package).joinpath(f"page.{kind}").read_text()
    return own if kind == "html" else files(_SHARED).joinpath(f"page.{kind}").read_text() + own


def web_page(package: str, name: str, head: str) -> str:
    """The HTML of a package's page, with what is to be in its head."""
    parts = {"name": name, "head": head, "body": part(package, "html").rstrip("\n")}
    page = files(_SHARED).joinpath("page.html").read_text()
    for place, text in parts.items():
        page = page.replace(f"<!--{place}-->", text)
    return page
