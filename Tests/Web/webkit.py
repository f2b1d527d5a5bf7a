"""WebKitGTK for the tests, with the same few functions as the browsers: webview.c, which gets its pages out of packs by the C interface."""

import contextlib
import json
import os
import pathlib
import queue
import shlex
import subprocess
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ScriptError(Exception):
    pass


def build(place, products):
    """Compiles the program against the library in `products`; gives its path, or nothing where WebKitGTK is missing."""
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "webkit2gtk-4.1"], capture_output=True, text=True)
    if found.returncode:
        return None
    program = pathlib.Path(place) / "webview"
    subprocess.run(
        ["gcc", "-std=gnu17", "-O1", "-Wall", "-Werror", f"-I{ROOT}/.build/c/include", "-o", program, ROOT / "Tests/Web/webview.c", f"-L{products}", "-lPackC",
         f"-Wl,-rpath,{products}", *shlex.split(found.stdout)], check=True)
    return program


@contextlib.contextmanager
def screen():
    """A screen in memory, of which the name is given."""
    read, write = os.pipe()
    # Without -noreset it starts anew when the last window is closed, and refuses the next one in the meantime.
    process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1000x800x24", "-nolisten", "tcp", "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with open(read) as name:
            yield f":{name.readline().strip()}"
    finally:
        process.terminate()
        process.wait(60)


class WebKit:
    """A web view with a folder for its data, in which it goes on where it was."""

    name = "WebKit"

    def __init__(self, program, display, folder, seconds=120):
        self.seconds, self.said, self.folder = seconds, [], pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        # No card for graphics: Mesa draws. A sandbox needs rights that a container does not give.
        environment = dict(
            os.environ, DISPLAY=display, GDK_BACKEND="x11", LIBGL_ALWAYS_SOFTWARE="1", WEBKIT_DISABLE_DMABUF_RENDERER="1",
            WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS="1", NO_AT_BRIDGE="1", HOME=str(self.folder), XDG_RUNTIME_DIR=str(self.folder))
        self.process = subprocess.Popen(
            [program, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=environment)
        self.answers = queue.Queue()
        for stream, take in ((self.process.stdout, self.answers.put), (self.process.stderr, self.said.append)):
            threading.Thread(target=self._listen, args=(stream, take), daemon=True).start()

    @staticmethod
    def _listen(stream, take):
        for line in stream:
            take(line.rstrip("\n"))
        take(None)

    def call(self, *parts):
        self.process.stdin.write("\t".join(urllib.parse.quote(str(part), safe="/:") for part in parts) + "\n")
        self.process.stdin.flush()
        try:
            line = self.answers.get(timeout=self.seconds)
        except queue.Empty:
            line = None
        if line is None:
            raise ScriptError(f"{parts[0]}: no answer\n" + "\n".join(line for line in self.said[-20:] if line))
        word, _, value = line.partition("\t")
        value = urllib.parse.unquote(value)
        if word != "ok":
            raise ScriptError(f"{parts[0]}: {value}")
        return value

    def get(self, url):
        self.call("get", url)

    def run(self, script, *arguments):
        """The value that the body of an asynchronous function returns in the page; its arguments are `args`."""
        return json.loads(self.call("run", f"const args = {json.dumps(arguments)};\n{script}"))

    look = run

    def picture(self):
        file = self.folder / "picture.png"
        self.call("picture", file)
        return file.read_bytes()

    def lines(self, word):
        """What was said of one kind, without the word: `request`, `failed`, `CONSOLE`."""
        return [line[len(word):].strip() for line in self.said if line and line.startswith(word)]

    def quit(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
