"""Drives a Chromium without a window, to test, picture and measure pages; it fetches nothing."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.support.node_packages import needs_packages, packages_of

BROWSERS = ("chromium", "google-chrome", "chromium-browser")
# Without the paths of both, Selenium would download them.
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = shutil.which("chromedriver")
ARGUMENTS = (
    "--no-sandbox",  # root has none in a container, and only our own pages are shown
    "--disable-dev-shm-usage",  # a container has little of it
    *("--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
TIMEOUT_S = 60
DESKTOP, PHONE, NARROW = (1280, 900), (390, 844), (320, 640)
AXE = packages_of("tests/browser") / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


needs_browser = [
    pytest.mark.night,
    pytest.mark.skipif(
        not (BROWSER and DRIVER) and not os.environ.get("CI"),
        reason="there is no chromium with its chromedriver on the PATH",
    ),
]
needs_axe = needs_packages("tests/browser")


class Browser:
    """One window of a browser with a profile of its own, which must not exist yet."""

    def __init__(self, profile: Path) -> None:
        assert BROWSER and DRIVER, "chromium and chromedriver are missing; .ci/run installs them"
        options = ChromeOptions()
        options.binary_location = BROWSER
        for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        environment = {**os.environ, "HOME": str(profile)}
        self.driver = Chrome(options=options, service=Service(DRIVER, env=environment))
        self.driver.set_script_timeout(TIMEOUT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def open(
        self,
        page: Path,
        fragment: str = "",
        *,
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
        scripts: bool = True,
    ) -> None:
        """Show a page as on a first visit, in a window of this size and a system of this colour."""
        self.driver.get("about:blank")  # else a fragment would only scroll
        self.resize(size)
        self.emulate(dark=dark)
        self.cdp("Storage.clearDataForOrigin", origin="file://", storageTypes="all")
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.messages()
        self.driver.get(page.as_uri() + fragment)
        if not scripts:
            # Scripts of the test may look at the page; its own script is over without having run.
            self.cdp("Emulation.setScriptExecutionDisabled", value=False)

    def visit(self, address: str, *, languages: str = "en", scripts: bool = True) -> None:
        """Go to an address, as a person with these languages does."""
        self.cdp("Network.enable")
        self.cdp("Network.setExtraHTTPHeaders", headers={"Accept-Language": languages})
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.driver.get(address)
        self.cdp("Emulation.setScriptExecutionDisabled", value=False)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window this size; below 600 it is a phone."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.cdp("Emulation.setDeviceMetricsOverride", **metrics)

    def emulate(self, *, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", features=[scheme])

    def cdp(self, command: str, **arguments: object) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, body: str, *arguments: object) -> Any:
        return self.driver.execute_script(body, *arguments)

    def js_later(self, body: str, *arguments: object) -> Any:
        """The value that a piece of script hands to its last argument, some time later."""
        return self.driver.execute_async_script(body, *arguments)

    def frames(self) -> None:
        """Wait until the window has shown the present state of the page."""
        self.js_later("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def type(self, *keys: str) -> None:
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def press(self, key: str, code: str, modifiers: int = 0) -> None:
        """Press one key that a keyboard of another language has, or with another one held."""
        pressed = {"key": key, "code": code, "modifiers": modifiers}
        text = {} if modifiers else {"text": key}
        self.cdp("Input.dispatchKeyEvent", type="keyDown", **pressed, **text)
        self.cdp("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def messages(self) -> Sequence[str]:
        """The messages of the console since the last call."""
        log: list[dict[str, str]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [entry["message"] for entry in log]

    # The page as a reader sees it

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that are not hidden."""
        found: list[str] = self.js(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter((it) => it.checkVisibility()).map((it) => it.textContent)",
            selector,
        )
        return found

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        wider = "const it = document.documentElement; return it.scrollWidth - it.clientWidth"
        return int(self.js(wider))

    def violations(self) -> list[str]:
        """The rules that the page breaks as it is, by axe-core."""
        if not self.js("return 'axe' in window"):
            self.js(AXE.read_text(encoding="utf-8"))
        found: list[str] = self.js_later(
            """
            const [tags, done] = arguments;
            axe.run({ runOnly: tags, resultTypes: ["violations"] }).then((all) => done(
              all.violations.flatMap((it) => it.nodes.map((node) => `${it.id}: ${node.html}`))));
            """,
            RULES,
        )
        return found
