// Runs before the scripts of a page in the phone's view, and reports what fails in them.
"use strict";

(() => {
  let left = 200;

  function report(place, text) {
    if (left <= 0) return;
    left -= 1;
    fetch("/.well-known/packer/error", { method: "POST", body: `${place}\n${text}`.slice(0, 3000), keepalive: true }).catch(() => {});
  }

  function words(value) {
    if (value instanceof Error) return value.stack && value.stack.includes(value.message) ? value.stack : String(value);
    try {
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    } catch {
      return String(value);
    }
  }

  addEventListener("error", (event) => {
    // Elements whose file fails are in the list of requests.
    if (!(event instanceof ErrorEvent)) return;
    const place = event.filename ? `${event.filename.replace(location.origin, "")}:${event.lineno}` : "";
    report(place, event.message);
  });
  addEventListener("unhandledrejection", (event) => report("promise", words(event.reason)));
  const write = console.error;
  console.error = function (...values) {
    report("console", values.map(words).join(" "));
    return write.apply(this, values);
  };
})();
