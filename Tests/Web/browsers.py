"""Two browsers for the tests: Chromium by its driver, and Firefox ESR by Marionette, which needs none. Both have the same few functions."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
from servers import free_port  # noqa: E402

# The last argument of an asynchronous script is the function that ends it.
ASYNC = """
const [done, ...given] = [arguments[arguments.length - 1], ...Array.prototype.slice.call(arguments, 0, -1)];
(async (...args) => { %s })(...given).then((value) => done({ value }), (error) => done({ error: `${error} ${error?.stack}` }));
"""


class ScriptError(Exception):
    pass


def result(answer):
    if answer is None or "error" in answer:
        raise ScriptError((answer or {}).get("error", "no answer"))
    return answer.get("value")


class Chromium:
    """Chromium with a profile folder, in which it goes on where it was."""

    name = "Chromium"

    def __init__(self, profile, seconds=120, flags=(), waits=True):
        """`waits` is whether each call waits for the page that is being loaded."""
        options = Options()
        options.page_load_strategy = "normal" if waits else "none"
        options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
        for flag in (
                "--headless=new", "--no-sandbox", "--window-size=900,700", "--mute-audio", "--autoplay-policy=no-user-gesture-required", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
                "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", f"--user-data-dir={profile}", *flags):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver"))
        self.driver.set_script_timeout(seconds)
        self.driver.set_page_load_timeout(seconds)

    def get(self, url):
        self.driver.get(url)

    @property
    def url(self):
        return self.driver.current_url

    def run(self, script, *arguments):
        """The value that the body of an asynchronous function returns in the page; its arguments are `args`."""
        try:
            return result(self.driver.execute_async_script(ASYNC % script, *arguments))
        except WebDriverException as error:
            raise ScriptError(error.msg) from error

    def look(self, script):
        """The value that the body of a function returns at once."""
        try:
            return self.driver.execute_script(script)
        except WebDriverException as error:
            raise ScriptError(error.msg) from error

    def picture(self):
        return base64.b64decode(self.driver.get_screenshot_as_base64())

    def tab(self):
        """Opens a tab and returns the handle of the one before."""
        before = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        return before

    def switch(self, handle):
        """Closes this tab and goes to another."""
        self.driver.close()
        self.driver.switch_to.window(handle)

    def peek(self, handle):
        """Goes to another tab, and returns the handle of this one."""
        before = self.driver.current_window_handle
        self.driver.switch_to.window(handle)
        return before

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def limit(self, origin, size):
        """Gives an origin so many bytes on the disk."""
        self.driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": size})

    def kill_worker(self):
        """Ends all service workers, as the browser does when they were idle for half a minute."""
        self.driver.execute_cdp_cmd("ServiceWorker.enable", {})
        self.driver.execute_cdp_cmd("ServiceWorker.stopAllWorkers", {})

    @property
    def pid(self):
        return self.driver.service.process.pid

    def quit(self):
        self.driver.quit()


PREFERENCES = {
    "marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0, "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False, "app.update.enabled": False, "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False, "services.settings.server": "http://127.0.0.1:1/",
    "media.autoplay.default": 0, "browser.safebrowsing.malware.enabled": False, "browser.safebrowsing.phishing.enabled": False,
    "toolkit.startup.max_resumed_crashes": -1, "browser.tabs.remote.autostart": True, "dom.disable_open_during_load": False,
}


class Firefox:
    """Firefox ESR with a profile folder, in which it goes on where it was."""

    name = "Firefox"

    def __init__(self, profile, seconds=120, quota=None):
        """`quota` is the room for all origins together in bytes."""
        profile = pathlib.Path(profile)
        profile.mkdir(parents=True, exist_ok=True)
        port = free_port()
        own = PREFERENCES | {"marionette.port": port}
        if quota:
            own["dom.quotaManager.temporaryStorage.fixedLimit"] = quota >> 10
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in own.items()))
        self.log = open(profile / "output.txt", "ab")
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "-profile", str(profile), "about:blank"], stdout=self.log, stderr=self.log,
            env=dict(os.environ, MOZ_HEADLESS_WIDTH="900", MOZ_HEADLESS_HEIGHT="700", HOME=str(profile)))
        self.count = 0
        deadline = time.monotonic() + 90
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), 5)
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.1)
        self.socket.settimeout(seconds + 60)
        self.stream = self.socket.makefile("rb")
        self._receive()
        self._call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}})
        self._call("WebDriver:SetTimeouts", {"script": seconds * 1000, "pageLoad": seconds * 1000})

    def _receive(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            if not byte:
                raise ScriptError("Firefox has ended")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def _call(self, command, parameters=None):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters or {}]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, value = self._receive()
        if error:
            raise ScriptError(f"{command}: {error.get('error')}: {error.get('message')}")
        return value

    def get(self, url):
        self._call("WebDriver:Navigate", {"url": url})

    @property
    def url(self):
        return self._call("WebDriver:GetCurrentURL")["value"]

    def run(self, script, *arguments):
        return result(self._call("WebDriver:ExecuteAsyncScript", {"script": ASYNC % script, "args": list(arguments), "newSandbox": True, "sandbox": None})["value"])

    def look(self, script):
        return self._call("WebDriver:ExecuteScript", {"script": script, "args": [], "newSandbox": True, "sandbox": None})["value"]

    def picture(self):
        return base64.b64decode(self._call("WebDriver:TakeScreenshot", {"full": False})["value"])

    def _handle(self):
        return self._call("WebDriver:GetWindowHandle")["value"]

    def tab(self):
        before = self._handle()
        handle = self._call("WebDriver:NewWindow", {"type": "tab", "focus": True})["handle"]
        self._call("WebDriver:SwitchToWindow", {"handle": handle})
        return before

    def switch(self, handle):
        self._call("WebDriver:CloseWindow")
        self._call("WebDriver:SwitchToWindow", {"handle": handle})

    def peek(self, handle):
        before = self._handle()
        self._call("WebDriver:SwitchToWindow", {"handle": handle})
        return before

    def console(self):
        return []

    def kill_worker(self):
        """Ends all service workers, which only the browser's own code may do."""
        self._call("Marionette:SetContext", {"value": "chrome"})
        try:
            self._call("WebDriver:ExecuteScript", {"args": [], "script": """
              const manager = Cc["@mozilla.org/serviceworkers/manager;1"].getService(Ci.nsIServiceWorkerManager);
              const all = manager.getAllRegistrations();
              for (let index = 0; index < all.length; index += 1) {
                all.queryElementAt(index, Ci.nsIServiceWorkerRegistrationInfo).activeWorker?.terminateWorker();
              }"""})
        finally:
            self._call("Marionette:SetContext", {"value": "content"})

    @property
    def pid(self):
        return self.process.pid

    def quit(self):
        with contextlib.suppress(Exception):
            self._call("Marionette:Quit", {"flags": ["eForceQuit"]})
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stream.close()
        self.socket.close()
        self.log.close()


BROWSERS = {"chromium": Chromium, "firefox": Firefox}


@contextlib.contextmanager
def browser(name, profile, **options):
    one = BROWSERS[name](profile, **options)
    try:
        yield one
    finally:
        one.quit()
