parent.postMessage(`${location.pathname}${location.search}`, location.origin === "null" ? "*" : location.origin);
