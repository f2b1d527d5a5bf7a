// Runs before the scripts of a page in the phone's view, and reports what fails in them.
"use strict";

(() => {
  let left = 500;

  // By messages, which no policy of the page stops.
  function tell(message) {
    if (top !== window) top.postMessage({ packer: message }, location.origin);
  }

  function report(place, text) {
    if (left <= 0) return;
    left -= 1;
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

  tell({ isWatched: true });
  addEventListener("error", (event) => {
    // Elements whose file fails are in the list of requests.
    if (!(event instanceof ErrorEvent)) return;
    const place = event.filename ? `${event.filename.replace(location.origin, "")}:${event.lineno}:${event.colno}` : "";
    report(place, event.message);
  });
  addEventListener("unhandledrejection", (event) => report("promise", words(event.reason)));
  const write = console.error;
  console.error = function (...values) {
    report("console", values.map(words).join(" "));
    return write.apply(this, values);
  };
})();
