// Runs before the scripts of a page in the phone's view or a recorded run, reports what fails in them, and takes away what no web view has.
"use strict";

(() => {
  let left = 500;
  const send = window.fetch.bind(window);
  const isViewed = top.location.pathname.endsWith("/.well-known/packer/phone");

  // To the phone's view by messages, which no policy of the page stops.
  function tell(message) {
    if (isViewed) top.postMessage({ packer: message }, location.origin);
    else if (message.text) send("/.well-known/packer/error", { method: "POST", body: `${message.place}\n${message.text}`, keepalive: true }).catch(() => {});
  }

  function report(place, text) {
    if (left <= 0) return;
    left -= 1;
    if (!crossOriginIsolated && /SharedArrayBuffer|crossOriginIsolated/.test(text)) text += " (no web view has it; browsers do with 'packer serve --isolated')";
    tell(left ? { place, text: text.slice(0, 3000) } : { place: "", text: "more errors of this page are not reported" });
  }

  function words(value) {
    if (value instanceof Error) return value.stack && value.stack.includes(value.message) ? value.stack : String(value);
    try {
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    } catch {
      return "an object";
    }
  }

  function fail(event, text) {
    // Elements whose file fails are in the list of requests.
    if (!(event instanceof ErrorEvent) && !text) return;
    report(event.filename ? `${event.filename.replace(location.origin, "")}:${event.lineno}:${event.colno}` : "", event.message || text);
  }

  tell({ isWatched: true });
  if (!document.currentScript.src.endsWith("?workers")) delete Navigator.prototype.serviceWorker;
  Object.defineProperty(Document.prototype, "cookie", { configurable: true, get: () => "", set() {} });
  for (const [name, result] of [["alert"], ["confirm", false], ["prompt", null], ["open", null]]) {
    window[name] = () => {
      report("phone", `${name}() shows nothing in a web view, unless the app has a uiDelegate`);
      return result;
    };
  }
  window.Worker = class extends Worker {
    constructor(...all) {
      super(...all);
      this.addEventListener("error", (event) => fail(event, `the worker ${all[0]} does not start`));
    }
  };
  addEventListener("error", (event) => fail(event));
  addEventListener("unhandledrejection", (event) => report("promise", words(event.reason)));
  const mark = performance.mark;
  performance.mark = function (name, ...rest) {
    if (name === "playable" && !isViewed) send("/.well-known/packer/error", { method: "POST", body: "mark\nplayable", keepalive: true }).catch(() => {});
    return mark.call(this, name, ...rest);
  };
  const write = console.error;
  console.error = function (...values) {
    report("console", values.map(words).join(" "));
    return write.apply(this, values);
  };
})();
