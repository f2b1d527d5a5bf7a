parent.postMessage(window.inline ? "not blocked" : "blocked", "*");
