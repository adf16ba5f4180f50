#!/usr/bin/python3
"""A headless Chromium that does what it is told: browser.py DIRECTORY [CHROMIUM-SWITCH...]

Reads commands from standard input, a JSON object a line, and answers each with two lines,
{"id":N,"result":...} or {"id":N,"error":"..."}, and {"done":N}. Commands run beside each other.

  open URL           a new page, when it has loaded; the result is the number of the page
  load PAGE URL      the same, in a page that is there
  evaluate PAGE EXPRESSION   its value, or that of its promise, as JSON
  screenshot PAGE PATH       a PNG file
  close PAGE

What pages write to their console and throw is written to standard error. At the end of standard input the
browser is killed. It is driven through the pipe of its DevTools: no port, and no WebSocket.
"""
import base64
import ctypes
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading

SWITCHES = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--remote-debugging-pipe", "--autoplay-policy=no-user-gesture-required", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows", "--log-level=3", "--window-size=1280,800",
]
# The smaller program starts in a third of the time.
PROGRAMS = ["chromium-headless-shell", "chromium"]
PR_SET_CHILD_SUBREAPER = 36


class Refused(Exception):
    """The browser answered with an error."""


class DevTools:
    """The browser's commands and events."""

    def __init__(self, program, switches):
        theirs_in, self.commands = os.pipe()
        self.events, theirs_out = os.pipe()

        def hand_over():
            # Duplicates to high numbers first: 3 and 4 may still be in use.
            held = [os.dup2(fd, 100 + i) for i, fd in enumerate([theirs_in, theirs_out])]
            for fd, number in zip(held, [3, 4]):
                os.dup2(fd, number)

        self.process = subprocess.Popen(
            [program] + switches, preexec_fn=hand_over, pass_fds=[3, 4], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.lock = threading.Lock()
        self.answers = {}
        self.loaded = {}
        self.last = 0
        threading.Thread(target=self.read, daemon=True).start()

    def call(self, method, session=None, **parameters):
        """Sends a command and waits for its answer."""
        answer = queue.Queue()
        with self.lock:
            self.last += 1
            number = self.last
            self.answers[number] = answer
            message = {"id": number, "method": method, "params": parameters}
            if session:
                message["sessionId"] = session
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self.commands, data):]
        reply = answer.get()
        if "error" in reply:
            raise Refused(f"{method}: {reply['error'].get('message')}")
        return reply["result"]

    def read(self):
        rest = b""
        while data := os.read(self.events, 1 << 16):
            *messages, rest = (rest + data).split(b"\0")
            for message in messages:
                self.take(json.loads(message))
        with self.lock:
            waiting, self.answers = list(self.answers.values()), {}
        for answer in waiting:
            answer.put({"error": {"message": "the browser is over"}})

    def take(self, message):
        if "id" in message:
            with self.lock:
                answer = self.answers.pop(message["id"], None)
            if answer:
                answer.put(message)
            return
        parameters = message.get("params", {})
        if message["method"] == "Page.loadEventFired":
            loaded = self.loaded.get(message.get("sessionId"))
            if loaded:
                loaded.set()
        elif message["method"] == "Runtime.consoleAPICalled":
            texts = [str(x.get("value", x.get("description"))) for x in parameters["args"]]
            print("console:", *texts, file=sys.stderr, flush=True)
        elif message["method"] == "Runtime.exceptionThrown":
            print("thrown:", thrown(parameters["exceptionDetails"]), file=sys.stderr, flush=True)


def thrown(details):
    exception = details.get("exception", {})
    return exception.get("description") or str(exception.get("value", details.get("text")))


def beside(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)) as file:
        return file.read()


class Browser:
    def __init__(self, directory, switches):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if not program:
            sys.exit("no Chromium: apt install chromium-headless-shell")
        self.helpers = "".join(map(beside, ["browser-rig.js", "browser-janus.js"]))
        self.tools = DevTools(program, SWITCHES + [f"--user-data-dir={directory}"] + switches)
        self.pages = []  # (target, session)
        self.lock = threading.Lock()

    def open(self, url):
        target = self.tools.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.tools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.tools.call("Page.enable", session)
        self.tools.call("Runtime.enable", session)
        self.tools.call("Page.addScriptToEvaluateOnNewDocument", session, source=self.helpers)
        with self.lock:
            self.pages.append((target, session))
            number = len(self.pages) - 1
        self.load(number, url)
        return number

    def load(self, page, url):
        session = self.pages[page][1]
        loaded = self.tools.loaded[session] = threading.Event()
        failure = self.tools.call("Page.navigate", session, url=url).get("errorText")
        if failure:
            raise Refused(f"{url}: {failure}")
        if not loaded.wait(280):
            raise Refused(f"{url} did not load within 280 s")

    def evaluate(self, page, expression):
        reply = self.tools.call(
            "Runtime.evaluate", self.pages[page][1], expression=expression, awaitPromise=True,
            returnByValue=True, userGesture=True)
        if "exceptionDetails" in reply:
            raise Refused(thrown(reply["exceptionDetails"]))
        return reply["result"].get("value")

    def screenshot(self, page, path):
        data = self.tools.call("Page.captureScreenshot", self.pages[page][1], format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self, page):
        self.tools.call("Target.closeTarget", targetId=self.pages[page][0])


def ours():
    """The processes whose parent this one is."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            found += map(int, file.read().split())
    return found


def answer(browser, speaking, command):
    number = command.pop("id")
    try:
        result = getattr(browser, command.pop("do"))(**command)
        reply = {"id": number, "result": result}
    except Exception as error:  # The caller gets every error.
        reply = {"id": number, "error": str(error)}
    with speaking:
        print(json.dumps(reply, separators=(",", ":")), f'{{"done":{number}}}', sep="\n", flush=True)


def main():
    directory, *switches = sys.argv[1:]
    # Adopts the browser's child processes when the browser is killed, so that none remains a
    # zombie.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    browser = Browser(directory, switches)
    try:
        browser.tools.call("Browser.getVersion")
        print("ready", flush=True)
        speaking = threading.Lock()
        for line in sys.stdin:
            threading.Thread(
                target=answer, args=(browser, speaking, json.loads(line)), daemon=True).start()
    finally:
        signal.alarm(5)  # Ends this process in any case.
        while children := ours():
            for child in children:
                os.kill(child, signal.SIGKILL)
            os.wait()


main()
