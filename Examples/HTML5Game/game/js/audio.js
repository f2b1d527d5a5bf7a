// Sound. Effects are short and decoded whole; music is long and streamed by
// an <audio> element, which asks the server for just the ranges it needs.

import { assetURL, loadBytes } from "./loader.js";
import { recall, remember } from "./store.js";

const EFFECTS = ["pick", "deposit", "dash", "hurt", "spotted", "hoot", "full",
                 "won", "lost", "click"];
const MUSIC_VOLUME = 0.5;

export class Sound {
  constructor(element, { mute }) {
    this.element = element;
    this.element.volume = MUSIC_VOLUME;
    this.muted = mute || recall("muted") === "1";
    this.element.muted = this.muted;
    this.context = null;
    this.bytes = new Map();
    this.buffers = new Map();
    this.track = null;
    // Browsers keep silent until the visitor has done something; of a touch,
    // they only count the end.
    for (const type of ["keydown", "pointerup"]) {
      addEventListener(type, () => this.#unlock());
    }
    document.addEventListener("visibilitychange", () => this.#attend());
  }

  async load() {
    await Promise.all(EFFECTS.map((name) => this.fetch(name, `sounds/${name}.wav`)));
  }

  async fetch(name, path) {
    this.bytes.set(name, await loadBytes(path));
    this.buffers.delete(name);
    if (this.context) {
      await this.#decode(name);
    }
  }

  async #decode(name) {
    // Decoding consumes the bytes; they are not needed afterwards.
    const bytes = this.bytes.get(name);
    this.bytes.delete(name);
    if (bytes) {
      this.buffers.set(name, await this.context.decodeAudioData(bytes));
    }
  }

  #unlock() {
    if (!this.context) {
      this.context = new AudioContext();
      [...this.bytes.keys()].forEach((name) => this.#decode(name));
    }
    if (this.context.state === "suspended") {
      this.context.resume();
    }
    if (this.track && this.element.paused) {
      this.#start();
    }
  }

  play(name, { volume = 1, rate = 1 } = {}) {
    const buffer = this.buffers.get(name);
    if (!buffer || this.muted) {
      return;
    }
    const source = this.context.createBufferSource();
    const gain = this.context.createGain();
    source.buffer = buffer;
    source.playbackRate.value = rate;
    gain.gain.value = volume;
    source.connect(gain).connect(this.context.destination);
    source.start();
  }

  // Each level enters its tune at its own bar, which is a seek in the file.
  music(track, from = 0) {
    const seek = () => { this.element.currentTime = from; };
    if (this.track === track) {
      seek();
    } else {
      this.track = track;
      this.element.src = assetURL(`music/${track}.wav`);
      if (from > 0) {
        this.element.addEventListener("loadedmetadata", seek, { once: true });
      }
    }
    this.#start();
  }

  // A game that nobody looks at should not be heard either.
  #attend() {
    if (document.hidden) {
      this.element.pause();
    } else if (this.track) {
      this.#start();
    }
  }

  #start() {
    // A refusal only means that nobody has touched the page yet.
    this.element.play().catch(() => {});
  }

  toggle() {
    this.muted = !this.muted;
    this.element.muted = this.muted;
    remember("muted", this.muted ? "1" : "0");
  }
}
