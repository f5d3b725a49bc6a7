// Names and actions of games as people read them, by the patterns and terms of labels.json.
const NAMES = /\b(?:[a-z]+(?:_[a-z]+)+\d*|[a-z]{2,}\d+|[a-z]+[A-Z][A-Za-z]*\d*)\b/g; // bell_pepper, pot0, tomatoSlice
export class Wording {
  constructor({ patterns, terms }) {
    this.patterns = patterns.map(([from, to]) => [new RegExp(`^(?:${from})$`), to]);
    this.terms = terms;
    this.single = new Set(); // names whose number tells nothing, as there is one such thing only
    this.spaced = null;
    this.known = new Map();
  }

  setSingle(names) {
    this.single = new Set(names);
    const spaced = names.map((name) => name.replaceAll("_", " ")).filter((name) => name.includes(" "));
    this.spaced = spaced.length ? new RegExp(`\\b(?:${spaced.join("|")})\\b`, "g") : null;
    this.known.clear();
  }

  // A name of the game as people write it: bell_pepper, pot0 and tomatoSlice become words.
  #spell(name) {
    if (this.single.has(name)) return this.#spell(name.replace(/\d+$/, ""));
    if (/^[a-z]\d+$/.test(name)) return name; // a letter on the map
    const whole = this.terms[name] ?? this.terms[name.toLowerCase()];
    if (whole !== undefined) return whole;
    const spaced = name
      .replace(/([a-z])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`)
      .replace(/_/g, " ")
      .replace(/([a-z])(\d+)$/i, "$1 $2");
    return spaced
      .split(" ")
      .map((word) => this.terms[word.toLowerCase()] ?? word)
      .join(" ");
  }

  // An action or label of a game as people read it; what no pattern knows stays as it is, names apart.
  phrase(text) {
    if (!this.known.has(text)) {
      if (this.known.size > 5000) this.known.clear();
      this.known.set(
        text,
        this.#reworded(this.spaced ? text.replace(this.spaced, (name) => name.replace(/ ?\d+$/, "")) : text),
      );
    }
    return this.known.get(text);
  }

  #reworded(text) {
    for (const [from, to] of this.patterns) {
      const found = from.exec(text);
      if (found)
        return to.replace(/\{(\d)(\??)\}/g, (_, n, inner) =>
          found[n] === undefined ? "" : inner ? this.#reworded(found[n]) : this.#spell(found[n]),
        );
    }
    return /^[a-z]+([ _][a-z]+)+\d*$|^[a-z]+[A-Z]\w*$|^[a-z]+\d+$/.test(text) || this.terms[text.toLowerCase()]
      ? this.#spell(text)
      : text.replace(NAMES, (name) => this.#spell(name));
  }
}
