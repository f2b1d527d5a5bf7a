// Localised texts: one folder of JSON files for each language.

import { LANGUAGES } from "./config.js";
import { loadJSON } from "./loader.js";
import { recall, remember } from "./store.js";

const FILES = ["ui", "hints"];

export class Texts {
  constructor(requested) {
    this.language = requested ?? preferred();
    this.table = {};
  }

  async load() {
    const parts = await Promise.all(
      FILES.map((file) => loadJSON(`strings/${this.language}/${file}.json`)));
    this.table = Object.assign({}, ...parts);
    document.documentElement.lang = this.language;
  }

  async next() {
    const at = LANGUAGES.indexOf(this.language);
    this.language = LANGUAGES[(at + 1) % LANGUAGES.length];
    remember("language", this.language);
    await this.load();
  }

  // A missing text shows its key, which is easier to notice than a blank.
  get(key, values = {}) {
    const text = this.table[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  number(value) {
    return new Intl.NumberFormat(this.language).format(value);
  }
}

function preferred() {
  const wanted = [recall("language"), ...(navigator.languages ?? [])];
  for (const tag of wanted) {
    const language = tag?.slice(0, 2);
    if (LANGUAGES.includes(language)) {
      return language;
    }
  }
  return LANGUAGES[0];
}
