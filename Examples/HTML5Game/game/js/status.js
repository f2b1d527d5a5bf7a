// What an observer outside the game can see, as attributes of the root element.

const { dataset } = document.documentElement;

export function setState(state) {
  dataset.state = state;
}

export function setProgress(level, score) {
  dataset.level = String(level);
  dataset.score = String(score);
}

export function setError(reason) {
  // The first error is the cause; later ones are usually its consequences.
  dataset.error ??= String(reason?.message ?? reason);
  console.error(reason);
}

export function watchErrors() {
  addEventListener("error", (event) => setError(event.error ?? event.message));
  addEventListener("unhandledrejection", (event) => setError(event.reason));
}
