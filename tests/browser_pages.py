"""Chromium for tests: pages that report their faults, and checks of accessibility."""

import shutil
from contextlib import contextmanager
from importlib.resources import files
from urllib.parse import urlsplit

import pytest

from missing_programs import skip_or_fail

MISSING = "Chromium is not installed: install it (apt install chromium) to run this test."
ARGUMENTS = [
    "--no-sandbox",  # which refuses to run as root
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 120  # until a step counts as failed, also on a busy machine
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def browser():
    """Chromium with a new profile."""
    found = [path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))]
    if not found:
        skip_or_fail(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found[0], args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Open pages of an address, each for another person; at the end they must be without fault."""
    contexts, faults = [], []

    def open_one(address, **settings):
        page, its_faults = _new_page(browser, address, settings)
        contexts.append(page.context)
        faults.append(its_faults)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [fault for its_faults in faults for fault in its_faults] == []


@contextmanager
def faultless_page(browser, address, **settings):
    """Open a page that must be without fault, for fixtures that outlive a test."""
    page, faults = _new_page(browser, address, settings)
    yield page
    page.context.close()
    assert faults == []


def _new_page(browser, address, settings):
    """Return a page, and the list of its errors and of its requests to other machines."""
    context = browser.new_context(viewport=WIDE, base_url=address, **settings)
    context.set_default_timeout(1000 * SECONDS)
    page, faults = context.new_page(), []
    own = urlsplit(address).netloc

    def check_host(request):
        if urlsplit(request.url).netloc != own and not request.url.startswith("data:"):
            faults.append(f"request to {request.url}")

    context.on("request", check_host)
    page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto("/")
    return page, faults


def accessibility_faults(page):
    """Return axe-core's serious and critical findings, wide and narrow, light and dark.

    A dark page differs in its colours alone.
    """
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(f"() => {{ {axe} }}")  # the content policy forbids a script element
    faults = []
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            settings = {"resultTypes": ["violations"], **rules}
            found = page.evaluate("settings => axe.run(settings)", settings)
            faults += [
                f"{scheme}, {viewport['width']}: {one['id']}: {one['nodes'][0]['html']}"
                for one in found["violations"]
                if one["impact"] in GRAVE
            ]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    return faults


def scrolls_sideways(page):
    """Whether a page is wider than a narrow window."""
    page.set_viewport_size(NARROW)
    width = page.evaluate("() => document.documentElement.scrollWidth")
    page.set_viewport_size(WIDE)
    return width > NARROW["width"]
