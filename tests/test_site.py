"""The documentation site: it builds without a warning, offline, and what its pages say to type can be typed."""

from __future__ import annotations

import ast
import functools
import http.server
import importlib
import importlib.util
import inspect
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest
import typer

from logbarrier.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the site needs MkDocs, which the extra 'docs' installs")
    pytest.importorskip("mkdocstrings", reason="the site needs mkdocstrings, which the extra 'docs' installs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_page_is_in_the_site_and_in_its_contents(site):
    contents = (site / "index.html").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (site / name).exists(), name
        assert f'href="{name}"' in contents, name


def test_the_reference_shows_docstrings_as_written(site):
    text = (site / "reference" / "simulate.html").read_text()
    assert '<pre class="docstring">' in text
    assert "seed         runs first_run .. first_run + runs - 1 of this seed" in text


def test_lines_of_a_docstring_are_joined_where_the_source_breaks_them():
    path = ROOT / "docs" / "site_hooks.py"
    hooks = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("site_hooks", path))
    spec.loader.exec_module(hooks)
    long = " ".join(["word"] * 20)
    text = f"{long}\nends.\n\n    x = 1\n\nseed  {long}\n      ends &lt; 2\nruns  more\n&gt;&gt;&gt; {long}\n&gt;&gt;&gt; code"
    lines = re.findall(r'<span style="--hang: (\d+)ch">(.*?)\n</span>', hooks._wrapping(text))
    assert lines == [
        ("0", f"{long} ends."), ("0", ""), ("4", "    x = 1"), ("0", ""), ("6", f"seed  {long} ends &lt; 2"),
        ("6", "runs  more"), ("0", f"&gt;&gt;&gt; {long}"), ("0", "&gt;&gt;&gt; code"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def anchors(site):
    """Where the reference says something about an object: its place in the package."""
    pages = [page.read_text() for page in (site / "reference").glob("*.html")]
    return {anchor for page in pages for anchor in re.findall(r'id="(logbarrier[\w.]*)"', page)}


def place_of(package: str, name: str) -> str:
    """Where a public name is defined; of a constant, which does not know, its name alone."""
    owner = importlib.import_module(package)
    given = getattr(owner, name)
    if inspect.ismodule(given):
        return given.__name__
    return f"{given.__module__}.{given.__qualname__}" if inspect.isclass(given) or inspect.isfunction(given) else f".{name}"


@pytest.mark.parametrize(
    "package", [f"logbarrier{name}" for name in ("", ".mdps", ".contexts", ".theory", ".plots", ".extend")]
)
def test_the_reference_has_every_public_name(package, anchors):
    subpackages = ("contexts", "deep", "extend", "mdps", "plots", "theory", "__version__")
    names = [name for name in importlib.import_module(package).__all__ if name not in subpackages]
    assert [name for name in names if not any(anchor.endswith(place_of(package, name)) for anchor in anchors)] == []


@pytest.mark.parametrize("package", ["deep", "deep/sb3"])
def test_the_reference_has_every_name_for_networks(package, anchors):
    statements = ast.parse((ROOT / "src" / "logbarrier" / package / "__init__.py").read_text()).body
    imports = [statement for statement in statements if isinstance(statement, ast.ImportFrom) and statement.level == 1]
    names = [f"logbarrier.{package.replace('/', '.')}.{given.module}.{name.name}" for given in imports for name in given.names]
    assert len(names) > 5
    assert set(names) <= anchors


def test_the_site_fetches_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert not re.findall(r'<(?:script|img|iframe)[^>]*src="https?:', page.read_text()), page
        assert not re.findall(r'<link[^>]*rel="stylesheet"[^>]*href="https?:', page.read_text()), page


def test_no_asterisk_of_a_symbol_starts_italics(site):
    for page in site.rglob("*.html"):
        assert re.findall(r"\w<em>.{0,40}", page.read_text()) == [], page


def wait_for(browser, script: str) -> object:
    """What a script returns as soon as it returns something."""
    deadline = time.monotonic() + 120
    while not (found := browser.execute_script(f"return {script}")):
        assert time.monotonic() < deadline, browser.get_log("browser")
        time.sleep(0.05)
    return found


def search(browser, address: str, words: str) -> str:
    """Type words into the search field of a page; return the first result."""
    browser.get(address)
    field = browser.find_element("css selector", "input[name=query]")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys(words)
    return wait_for(browser, "document.querySelector('.md-search-result__link')?.href")


def test_the_site_is_searched_from_files_and_from_a_server(site, browser):
    assert "errata" in search(browser, f"file://{site}/index.html", "errata")
    assert "glossary" in search(browser, f"file://{site}/reference/rules.html", "glossary")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert "errata" in search(browser, f"http://127.0.0.1:{server.server_port}/index.html", "errata")
        server.shutdown()


FORMULAS = "[...document.querySelectorAll('mjx-container > svg')]"


@pytest.fixture
def phone(browser):
    """The browser with the screen of a phone."""
    shape = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_formulas_are_rendered_on_a_phone_and_none_is_wrong(site, phone):
    browser = phone
    pages = [page for page in sorted(site.rglob("*.html")) if 'class="arithmatex"' in page.read_text()]
    assert len(pages) > 0
    for page in pages:
        browser.get(page.as_uri())
        written, rendered = (
            f"document.querySelectorAll('{name}').length" for name in (".arithmatex", ".arithmatex mjx-container")
        )
        wait_for(browser, f"location.href == '{page.as_uri()}' && {written} > 0 && {rendered} == {written}")
        assert browser.execute_script("return document.querySelectorAll('[data-mjx-error]').length") == 0
        assert browser.execute_script(f"return {FORMULAS}.filter((e) => e.getBoundingClientRect().width < 3).length") == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_the_page_are_understood(page):
    commands = typer.main.get_command(app)
    for line in re.findall(r"^(?:\$ )?(logbarrier .*)$", page.read_text(), flags=re.MULTILINE):
        _, name, *arguments = shlex.split(line, comments=True)
        assert name in commands.commands, line
        with commands.commands[name].make_context(name, arguments):
            pass


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_toml_on_the_page_can_be_read(page):
    for block in re.findall(r"```toml\n(.*?)```", page.read_text(), flags=re.DOTALL):
        tomllib.loads(block)
