// Draws a picture that came as JSON (see reporting/pictures.py): the board as SVG, agents that slide, and the cards
// beside it.
const SVG = "http://www.w3.org/2000/svg";
const INK = "#2b2a28",
  BAD = "#cc3a2f",
  WORKING = "#e08a1e"; // colours of the scene model; the last counts down
const LEAST = { label: 11.5, low: 10.5, tile: 26, named: 42 }; // pixels below which nobody can read or tap
const MOST_TILE = 112;
const SHOWN_ITEMS = 6;
const pen = document.createElement("canvas").getContext("2d");
const FONT = "system-ui, sans-serif";

const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const use = (name, x, y, size, more = "") =>
  `<use href="#s-${name}" x="${x}" y="${y}" width="${size}" height="${size}"${more}/>`;
const widthOf = (text, pixels) => {
  pen.font = `${pixels}px ${FONT}`;
  return pen.measureText(text).width;
};
const element = (tag, text = "", className = "") => {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
};

// A colour of the scene model, darkened or lightened until it can be read as text on the page.
const DARK = matchMedia("(prefers-color-scheme: dark)");
const readable = (() => {
  const known = new Map();
  const light = (rgb) =>
    rgb
      .map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const grounds = { true: light([35, 34, 32]), false: 1 }; // of cards, in the dark and otherwise
  return (colour) => {
    const key = `${colour} ${DARK.matches}`,
      ground = grounds[DARK.matches];
    if (!known.has(key)) {
      let rgb = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
      const contrast = () => (Math.max(ground, light(rgb)) + 0.05) / (Math.min(ground, light(rgb)) + 0.05);
      while (contrast() < 4.9)
        rgb = rgb.map((v) => (DARK.matches ? Math.ceil(v + (255 - v) * 0.08) : Math.floor(v * 0.92)));
      known.set(key, `rgb(${rgb.join(",")})`);
    }
    return known.get(key);
  };
})();

// SVG elements of a markup made here, with all texts escaped, instead of what an element held.
export function draw(target, markup) {
  target.replaceChildren(
    ...new DOMParser().parseFromString(`<svg xmlns="${SVG}">${markup}</svg>`, "image/svg+xml").documentElement
      .childNodes,
  );
}

export function spriteOf(name, className = "sprite") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  draw(svg, use(name, 0, 0, 100));
  return svg;
}

export class Picture {
  // stage: scrolls; panel: takes the cards; hud: takes the clock; phrase: rewords a short text of the game;
  // counted: takes what the counts beside the clock gained or lost.
  constructor({ stage, panel, hud, orders, phrase, counted }) {
    Object.assign(this, { stage, panel, hud, orders, phrase, counted });
    this.values = new Map();
    this.stored = new Set(); // names of sprites
    this.cooks = new Map();
    this.cells = new Map();
    this.cards = new Map();
    this.bubbles = new Map(); // what agents have just said, by key of the agent
    this.time = () => ""; // title of the clock, where the page has a better one than the game
    this.inTime = (text) => text; // a countdown beside the clock, as the page counts
    this.mine = ""; // what the card of the own seat says beside its name
    this.ordered = () => {}; // called when an order comes
    this.zoom = 1;
    this.low = false; // whether the screen is
    this.letters = true; // whether places of a map have theirs, such as k3, which actions may name
    this.whole = false; // all of the board at once, however small
    this.own = null; // seat that the view follows
    this.ahead = null; // own agent as predicted, until a frame confirms it
    this.faces = new Map(); // sprites of the own agent by facing
    this.sprites = document.createElementNS(SVG, "svg");
    this.sprites.setAttribute("class", "store");
    this.sprites.setAttribute("aria-hidden", "true");
    document.body.append(this.sprites);
    this.sheet = element("div", "", "sheet");
    this.board = document.createElementNS(SVG, "svg");
    this.board.setAttribute("id", "board");
    this.board.setAttribute("aria-hidden", "true");
    this.under = document.createElementNS(SVG, "g");
    this.over = document.createElementNS(SVG, "g");
    this.tags = document.createElementNS(SVG, "g"); // names lie over all cells, as some are wider than theirs
    this.board.append(this.under, this.over, this.tags);
    this.layer = element("div", "", "cooks");
    this.layer.setAttribute("aria-hidden", "true");
    this.sheet.append(this.board, this.layer);
    this.map = document.createElementNS(SVG, "svg"); // all of a board that is larger than its room
    this.map.setAttribute("class", "map");
    this.map.setAttribute("aria-hidden", "true");
    stage.onscroll = () => this.#overview();
    stage.onpointermove = stage.onpointerdown = ({ clientX, clientY }) => {
      if (this.tags.querySelector(".quiet")) this.name(this.at(clientX, clientY));
    };
    stage.replaceChildren(this.sheet);
  }

  get size() {
    return this.values.get("board")?.size;
  }

  clear() {
    this.values.clear();
    this.ahead = null;
    this.faces.clear();
    for (const kept of [this.cooks, this.cells, this.cards, this.bubbles]) kept.clear();
    for (const shown of [this.over, this.tags, this.layer, this.panel, this.hud, this.orders]) shown.replaceChildren();
  }

  // Takes a difference; seconds is how long agents and items slide, 0 for not at all.
  apply({ put, drop = [] }, seconds = 0) {
    const before = new Map(this.values);
    for (const key of drop) this.values.delete(key);
    for (const [key, value] of Object.entries(put)) {
      this.values.set(key, value);
      if (key.startsWith("s:")) this.#store(key.slice(2), value);
    }
    const changed = [...Object.keys(put), ...drop],
      count = () => [...this.cards.values()].filter((card) => card.kind === "order").length,
      orders = count();
    this.sheet.style.setProperty("--slide", `${this.calm ? 0 : seconds}s`);
    // before the board, which takes the room they leave
    for (const key of changed) if (/^[knr]/.test(key)) this.#card(key);
    this.#sortCards();
    if (before.size && count() > orders) this.ordered();
    const sized =
      changed.includes("board") && JSON.stringify(before.get("board")) !== JSON.stringify(this.values.get("board"));
    if (sized || !this.tile) this.resize();
    else {
      for (const key of changed) if (key.startsWith("c:")) this.#cell(key);
      for (const key of changed) if (key.startsWith("a:")) this.#cook(key);
      if (this.ahead) this.#cook(`a:${this.own}`);
      if (seconds && !this.calm) this.#fly(before, changed, seconds);
    }
    this.#earned(before);
    this.#follow(seconds > 0);
    if (changed.some((key) => /^[ma]/.test(key))) this.#overview();
  }

  // The least size of letters, in pixels: smaller where all of a board shall fit a low screen.
  get letter() {
    return this.low ? LEAST.low : LEAST.label;
  }

  get calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  #store(name, markup) {
    if (this.stored.has(name)) return; // sprites outlive the picture
    this.stored.add(name);
    const symbol = document.createElementNS(SVG, "symbol");
    symbol.id = `s-${name}`;
    symbol.setAttribute("viewBox", "0 0 100 100");
    draw(symbol, markup);
    this.sprites.append(symbol);
  }

  // ------------------------------------------------------------------------------------------- the board

  resize() {
    const board = this.values.get("board");
    this.stage.parentElement.hidden = !board;
    if (!board) return;
    const [width, height] = board.size,
      room = this.room();
    this.low = room.low;
    const about = Math.min(MOST_TILE, room.width / width),
      letter = Math.max(this.letter, 0.19 * about) / about; // in tiles
    const ends = [...this.values]
      .filter(([key, cell]) => key.startsWith("c:") && cell.n && !cell.q)
      .map(
        ([, cell]) => cell.y + 1 + this.#drop(cell, about) + (0.15 + 1.05 * this.#caption(cell, about).length) * letter,
      );
    const foot = Math.max(0, ...ends.map((end) => end - height)); // for names below the last row
    this.height = room.height;
    const fit = Math.min(MOST_TILE, room.width / width, room.height / (height + foot));
    const named = [...this.values].some(([key, cell]) => key.startsWith("c:") && cell.l),
      words = board.strange
        ? Math.max(
            0,
            ...[...this.values].flatMap(([key, cell]) =>
              key.startsWith("c:") && cell.l
                ? this.phrase(cell.l[0])
                    .split(" ")
                    .map((word) => widthOf(word, this.letter) + 3)
                : [],
            ),
          )
        : 0; // sprites of strange things say nothing without a name
    // a low screen shows all of it with fewer names
    const least = Math.max(words, named && !room.low ? LEAST.named : LEAST.tile);
    // too small to read: the view follows the own agent instead
    this.tile = (this.whole || fit >= Math.max(words, least * (room.low ? 0.9 : 0.8)) ? fit : least) * this.zoom;
    this.stage.classList.toggle("wide", this.tile > fit * 1.01);
    this.stage.parentElement.classList.toggle("small", this.tile < 56 || this.zoom !== 1);
    const t = this.tile;
    this.stage.style.maxHeight = `${room.height + 2}px`;
    this.sheet.style.width = `${t * width}px`;
    this.sheet.style.height = `${t * (height + foot)}px`;
    this.board.setAttribute("viewBox", `0 0 ${width} ${height + foot}`);
    draw(
      this.under,
      `<rect width="${width}" height="${height + foot}" fill="${board.ground}"/>` +
        board.patches
          .map(([x, y, w, h]) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="#e0d9c9"/>`)
          .join("") +
        board.links.map(link).join(""),
    );
    for (const cell of this.cells.values()) cell.remove();
    this.cells.clear();
    for (const key of this.values.keys()) if (key.startsWith("c:")) this.#cell(key);
    this.layer.classList.add("still");
    for (const key of this.values.keys()) if (key.startsWith("a:")) this.#cook(key);
    this.layer.getBoundingClientRect(); // so that nothing slides while the size changes
    this.layer.classList.remove("still");
    this.#follow(false);
    this.#overview();
  }

  // The map: areas with their names, marks, agents, and the part of the board that is shown.
  #overview() {
    const map = this.values.get("map"),
      wide = this.stage.classList.contains("wide");
    if (!map || !wide) {
      this.map.remove();
      return;
    }
    if (!this.map.parentElement) this.orders.append(this.map); // before its width is measured
    const [width, height] = this.size,
      t = this.tile,
      side = 0.11 * width,
      pixel = width / (this.map.clientWidth || width),
      size = Math.max(0.045 * width, 8 * pixel); // also on phones, whose map is small
    const put = (name, x, y) => use(name, x + 0.5 - side / 2, y + 0.5 - side / 2, side);
    const named = ([x, y, w, h, , name]) => {
      const words = this.phrase(name),
        first = words.indexOf(" ");
      const sized = (lines) => [
        Math.min(size, h / (lines.length + 0.2), ...lines.map((line) => (10 * w) / widthOf(line, 10))),
        lines,
      ];
      const parted = first > 0 ? [sized([words.slice(0, first), words.slice(first + 1)])] : [];
      const [pixels, lines] = [sized([words]), ...parted].sort((a, b) => b[0] - a[0])[0];
      if (pixels < 7 * pixel) return "";
      return lines.map((line, i) => text(line, x + w / 2, y + (0.95 + i) * pixels, pixels)).join("");
    };
    this.map.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(
      this.map,
      map.areas
        .map(
          ([x, y, w, h, colour]) =>
            `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${colour}" stroke="${INK}" stroke-width="0.2"/>`,
        )
        .join("") +
        map.areas.map(named).join("") +
        map.marks.map(([x, y, name]) => put(name, x, y)).join("") +
        [...this.values]
          .filter(([key]) => key.startsWith("a:"))
          .map(([, cook]) => put(cook.s, cook.x, cook.y))
          .join("") +
        `<rect x="${this.stage.scrollLeft / t}" y="${this.stage.scrollTop / t}" width="${this.stage.clientWidth / t}" height="${this.stage.clientHeight / t}" fill="none" stroke="#1f5c99" stroke-width="0.3"/>`,
    );
  }

  room() {
    return { width: this.stage.parentElement.clientWidth - 4, height: Math.max(180, innerHeight * 0.6) };
  }

  #cell(key) {
    const cell = this.values.get(key);
    let group = this.cells.get(key);
    if (!cell) {
      group?.remove();
      this.cells.delete(key);
      return;
    }
    if (!group) {
      group = document.createElementNS(SVG, "g");
      group.tag = document.createElementNS(SVG, "g");
      group.remove = () => {
        Element.prototype.remove.call(group);
        group.tag.remove();
      };
      group.dataset.at = key;
      this.cells.set(key, group);
      this.over.append(group);
      this.tags.append(group.tag);
    }
    group.tag.setAttribute("class", cell.q ? "quiet" : "");
    for (const each of [group, group.tag]) each.setAttribute("transform", `translate(${cell.x} ${cell.y})`);
    const [drawn, tag] = this.#cellMarkup(cell);
    draw(group, drawn);
    draw(group.tag, tag);
  }

  #cellMarkup(cell) {
    const t = this.tile,
      items = cell.i ?? [],
      parts = [use(cell.s, 0, 0, 1), ...(cell.b ? [use(cell.b, 0, 0, 1)] : [])];
    const size = Math.max(this.letter, 0.19 * t),
      lines = this.#label(cell, size),
      tags = [];
    const used = lines.length ? (lines.length * size * 1.05 + 2) / t : cell.p ? 0.26 : cell.f ? 0.3 : 0;
    const shown = items.length <= SHOWN_ITEMS ? items : items.slice(0, SHOWN_ITEMS - 1),
      n = shown.length;
    const side = n === 1 ? Math.max(0.3, Math.min(cell.r ? 0.74 : 0.66, 1 - used * 0.7)) : Math.min(0.5, 1.3 / n);
    const step = n > 1 ? Math.min(side, (0.96 - side) / (n - 1)) : 0;
    const left = (1 - side - step * (n - 1)) / 2,
      top = Math.max(0, (1 - Math.max(used, n > 1 ? 0.2 : 0) - side) / 2);
    shown.forEach((name, i) =>
      parts.push(use(name, left + i * step, Math.max(0, top + (n > 2 ? (i % 2 ? 0.06 : -0.06) : 0)), side)),
    );
    if (n < items.length) parts.push(text(`+${items.length - n}`, 0.98, 0.95, size / t, "end", "700"));
    if (cell.f) parts.push(use(cell.f, 0, 0, 1));
    lines.forEach((line, i) =>
      tags.push(
        plate(line, this.#middle(cell, line, size), 1 - ((lines.length - i - 0.5) * size * 1.05) / t - 0.02, size, t),
      ),
    );
    if (cell.p)
      parts.push(
        progress(this.letters ? cell.p : [...cell.p.slice(0, 2), cell.p[2].replace(/, [a-z]\d+$/, "")], size, t),
      );
    if (cell.r) parts.push(use(cell.r, 0.66, 0.01, 0.33));
    if (cell.n) {
      const drop = this.#drop(cell, t);
      this.#caption(cell, t).forEach((line, i) =>
        tags.push(plate(line, this.#middle(cell, line, size), 1 + drop + (size * (0.62 + 1.05 * i)) / t, size, t)),
      );
    }
    // for marks of pages
    parts.push('<rect class="ring" x="0.05" y="0.05" width="0.9" height="0.9" rx="0.08" fill="none"/>');
    return [parts.join(""), tags.join("")];
  }

  // The name below a cell, in two lines where tiles are small.
  #caption(cell, t) {
    const name = this.phrase(cell.n);
    return wrapped(name, Math.max(this.letter, 0.19 * t), Math.max(64, 1.95 * t)) ?? [name];
  }

  // How far, in tiles, a name moves down so that it does not cover that of a cell above or left of it.
  #drop(cell, t) {
    const size = Math.max(this.letter, 0.19 * t),
      rows = this.#caption(cell, t);
    const ends = (one, lines) => {
      const half = Math.max(...lines.map((line) => widthOf(line, size) + 4)) / 2 / t,
        middle = one.x + this.#middle(one, lines[0], size, t);
      return [middle - half, middle + half];
    };
    const [left, right] = ends(cell, rows);
    if (cell.q) return 0;
    let drop = 0;
    for (const [key, other] of this.values) {
      if (!key.startsWith("c:") || !other.n || other.q || other.y > cell.y || (other.y === cell.y && other.x >= cell.x))
        continue;
      const lines = this.#caption(other, t),
        [from, to] = ends(other, lines);
      if (from < right && to > left) drop = Math.max(drop, other.y + (1.05 * lines.length * size) / t - cell.y);
    }
    return drop;
  }

  // The middle of a name below or in a cell, moved where the name would leave the board.
  #middle(cell, name, size, t = this.tile) {
    const half = (widthOf(name, size) + 4) / 2 / t,
      width = this.values.get("board").size[0];
    return Math.max(half - cell.x, Math.min(0.5, width - cell.x - half));
  }

  // The first label that fits into two lines; where nothing with a name is beside it, it may be wider than the cell.
  #label(cell, size) {
    const labels = (cell.l ?? [])
        .map((each) => (this.letters ? each : each.replace(/^[a-z]\d+(,? |$)/, "")))
        .filter(Boolean)
        .map((each) => this.phrase(each)),
      inside = this.tile - 3;
    if (!labels.length) return [];
    const taken = (steps) => [-steps, steps].some((side) => this.values.get(`c:${cell.x + side},${cell.y}`)?.l);
    // a wider name moves inwards, where nothing may be named
    const edge = 2 * Math.min(cell.x, this.size[0] - 1 - cell.x) + 1;
    const fits = (width) =>
      Array.from({ length: Math.floor(width) + (edge < width) }, (_, k) => k + 1).every((steps) => !taken(steps));
    const widths = [inside, ...[1.9, 2.9].filter(fits).map((width) => width * this.tile)],
      free = widths.length > 1;
    for (const width of widths)
      for (const label of width > inside && width === widths.at(-1) ? labels : free ? labels.slice(0, 1) : labels) {
        const lines = wrapped(label, size, width);
        if (lines) return lines;
      }
    if (this.tile < LEAST.tile) return []; // a letter would only cover what it stands for
    let cut = labels.at(-1);
    while (cut.length > 1 && widthOf(`${cut}.`, size) > inside) cut = cut.slice(0, -1);
    return [cut.length > 1 ? `${cut}.` : cut];
  }

  // Turns the own agent, and lets it step to a free cell, before a frame says so; a frame that differs takes it back,
  // and so does the first frame after the given seconds.
  foresee(facing, [dx, dy], tick, seconds) {
    const key = `a:${this.own}`,
      cook = this.values.get(key);
    if (!cook?.f) return;
    const x = cook.x + dx,
      y = cook.y + dy;
    const taken = [...this.values].some(([each, other]) => each.startsWith("a:") && other.x === x && other.y === y);
    const place = this.cellAt(x, y)?.w && !taken ? { x, y } : {};
    this.ahead = {
      from: cook,
      cook: { ...cook, f: facing, s: this.faces.get(facing) ?? cook.s, ...place },
      until: performance.now() + 1000 * seconds,
    };
    this.sheet.style.setProperty("--slide", `${this.calm ? 0 : tick}s`);
    this.#cook(key);
  }

  #shown(key) {
    const cook = this.values.get(key);
    if (key !== `a:${this.own}` || !cook) return cook;
    if (cook.f) this.faces.set(cook.f, cook.s);
    if (!this.ahead) return cook;
    const { from, until, cook: ahead } = this.ahead,
      same = cook.x === from.x && cook.y === from.y && cook.f === from.f;
    if (same && performance.now() < until) return { ...ahead, h: cook.h };
    this.ahead = null;
    return cook;
  }

  #cook(key) {
    const cook = this.#shown(key);
    if (!cook) {
      this.cooks.get(key)?.remove();
      this.cooks.delete(key);
      return;
    }
    let figure = this.cooks.get(key);
    if (!figure) {
      figure = document.createElementNS(SVG, "svg");
      figure.setAttribute("viewBox", "0 0 100 100");
      figure.setAttribute("class", "cook");
      this.cooks.set(key, figure);
      this.layer.append(figure);
    }
    const side = this.tile * (this.values.get("board")?.cook ?? 1),
      west = cook.f === "west",
      lean = cook.h && cook.f ? (west ? 13 : -13) : 0;
    const ground = key === `a:${this.own}` ? '<ellipse class="mine" cx="50" cy="91" rx="36" ry="9"/>' : "";
    const looks = ground + use(cook.s, lean, 0, 100) + (cook.h ? use(cook.h, west ? 1 : 45, 44, 54) : "");
    if (figure.looks !== looks) {
      draw(figure, looks);
      figure.looks = looks;
    }
    figure.style.width = figure.style.height = `${side}px`;
    figure.style.transform = `translate(${cook.x * this.tile}px, ${cook.y * this.tile}px)`;
    this.#bubble(key);
  }

  // Shows for some seconds what an agent says, above it.
  speak(seat, words) {
    const key = `a:${seat}`;
    if (!this.values.has(key)) return;
    this.bubbles.get(key)?.remove();
    const bubble = element("div", words, "bubble");
    this.bubbles.set(key, bubble);
    this.layer.append(bubble);
    this.#bubble(key);
    setTimeout(
      () => {
        bubble.remove();
        if (this.bubbles.get(key) === bubble) this.bubbles.delete(key);
      },
      3000 + 60 * words.length,
    );
  }

  #bubble(key) {
    const bubble = this.bubbles.get(key),
      cook = this.values.get(key);
    if (!bubble || !cook) return;
    const room = this.values.get("board").size[0] * this.tile - bubble.offsetWidth - 2;
    const left = Math.max(2, Math.min(cook.x * this.tile, room)),
      above = cook.y * this.tile - bubble.offsetHeight - 2;
    bubble.style.transform = `translate(${left}px, ${above < 0 ? (cook.y + 1) * this.tile : above}px)`;
  }

  // Items that change hands slide between the agent and the cell that changed with it.
  #fly(before, changed, seconds) {
    for (const key of changed.filter((each) => each.startsWith("a:"))) {
      const old = before.get(key),
        now = this.values.get(key);
      if (!old || !now || old.h === now.h) continue;
      const name = old.h ?? now.h,
        count = (values, at) => (values.get(at)?.i ?? []).filter((each) => each === name).length;
      const near = changed
        .filter((at) => at.startsWith("c:") && (count(before, at) !== count(this.values, at) || old.h))
        .map((at) => this.values.get(at) ?? before.get(at));
      const [dx, dy] = { north: [0, -1], south: [0, 1], west: [-1, 0], east: [1, 0] }[now.f] ?? [0, 0];
      const facing = dx || dy ? { x: now.x + dx, y: now.y + dy } : null;
      const far = (cell) => Math.hypot(cell.x - now.x, cell.y - now.y),
        place = near.sort((a, b) => far(a) - far(b))[0] ?? facing;
      if (!place || far(place) > 2.5) continue;
      const item = spriteOf(name, "flying"),
        t = this.tile;
      item.style.width = item.style.height = `${0.54 * t}px`;
      const ends = [place, now].map(({ x, y }) => ({
        transform: `translate(${(x + 0.23) * t}px, ${(y + 0.23) * t}px)`,
      }));
      this.layer.append(item);
      item.animate(old.h ? ends.reverse() : ends, {
        duration: Math.max(90, seconds * 1000),
        easing: "ease-out",
      }).onfinish = () => item.remove();
    }
  }

  #follow(smooth) {
    const own = this.own === null ? null : this.values.get(`a:${this.own}`);
    if (!own || !this.stage.classList.contains("wide")) return;
    const left = (own.x + 0.5) * this.tile - this.stage.clientWidth / 2,
      top = (own.y + 0.5) * this.tile - this.stage.clientHeight / 2;
    this.stage.scrollTo({ left, top, behavior: smooth && !this.calm ? "smooth" : "instant" });
  }

  // The cell under a point of the screen, and its place.
  at(clientX, clientY) {
    const box = this.board.getBoundingClientRect(),
      x = (clientX - box.left) / this.tile,
      y = (clientY - box.top) / this.tile;
    const inside = (cell) => x >= cell.x && x < cell.x + 1 && y >= cell.y && y < cell.y + (cell.n ? 1.3 : 1);
    const found = [...this.values].filter(([key, cell]) => key.startsWith("c:") && inside(cell));
    return found.length ? found.at(-1)[1] : null;
  }

  // Shows the names of cells that show theirs on demand: that of one, or of none.
  name(cell) {
    for (const [key, group] of this.cells) group.tag.classList.toggle("on", this.values.get(key) === cell);
  }

  mark(name, applies) {
    for (const [key, group] of this.cells) group.classList.toggle(name, applies(this.values.get(key), key));
  }

  cellAt(x, y) {
    return this.values.get(`c:${x},${y}`);
  }

  // ------------------------------------------------------------------------------------------- cards

  #card(key) {
    const value = this.values.get(key);
    let card = this.cards.get(key);
    if (value === undefined) {
      card?.remove();
      this.cards.delete(key);
      return;
    }
    if (!card) {
      card = element("div");
      this.cards.set(key, card);
    }
    const made =
      key === "r"
        ? {
            l: [
              {
                l: [
                  ["t", value[0], "#77726a", 0],
                  ["t", value[1], INK, 0],
                ],
              },
            ],
          }
        : key.startsWith("n:")
          ? { k: "station", l: [value] }
          : value;
    card.className = `card ${made.k ?? ""}`;
    card.kind = made.k ?? "";
    if (made.a === undefined) delete card.dataset.seat;
    else card.dataset.seat = made.a;
    const body = element("div", "", "lines");
    body.append(...made.l.map((line) => this.#line(line, made.k === "clock")));
    if (made.a !== undefined && made.a === this.own && this.mine)
      body.querySelector(".left > *")?.after(" ", element("span", this.mine));
    card.replaceChildren(...(made.s ? [spriteOf(made.s, "icon")] : []), body);
    const home = made.k === "clock" ? this.hud : made.k === "order" || made.k === "goal" ? this.orders : this.panel;
    if (card.parentElement !== home) home.append(card);
    this.unsorted = true;
  }

  #line(line, clock) {
    if (line.b !== undefined) {
      const bar = element("div", "", "bar"),
        full = element("div");
      full.style.width = `${Math.round(line.b * 1000) / 10}%`;
      full.style.background = line.c;
      bar.append(full);
      return bar;
    }
    const row = element("div", "", "line"),
      left = element("span", "", "left"),
      right = element("span", "", "right");
    left.append(...this.#spans(line.l));
    right.append(...this.#spans(line.r ?? [], clock));
    const time = clock && this.time();
    if (time && line.l[0]?.[3]) left.replaceChildren(element("b", time));
    row.append(left, ...(line.r ? [right] : []));
    return row;
  }

  #spans(spans, clock = false) {
    return spans
      .map(([kind, value, colour, bold]) => {
        if (kind === "s") return spriteOf(value);
        if (kind === "d") {
          const dot = element("i", "", "dot");
          dot.style.background = value;
          return dot;
        }
        const words = this.phrase(value);
        const made = element(bold ? "b" : "span", clock && colour === WORKING ? this.inTime(words) : words);
        if (colour !== INK) made.style.color = readable(colour);
        return made;
      })
      .flatMap((made, i) => (i ? [" ", made] : [made]));
  }

  #sortCards() {
    if (!this.unsorted) return;
    this.unsorted = false;
    const rank = ([key, card]) => [
      ["clock", "goal", "order", "agent", "station", ""].indexOf(card.kind),
      ...(key.match(/\d+/g) ?? [99]).map(Number),
    ];
    const sorted = [...this.cards]
      .map((each) => [rank(each), each[1]])
      .sort(([a], [b]) => a.reduce((order, value, i) => order || value - (b[i] ?? 0), 0));
    for (const home of [this.hud, this.orders, this.panel]) {
      const wanted = sorted.map(([, card]) => card).filter((card) => card.parentElement === home);
      wanted.forEach((card, i) => {
        if (home.children[i] !== card) home.insertBefore(card, home.children[i] ?? null);
      });
    }
  }

  // What the counts beside the clock gained or lost since the last picture, and countdowns that ended; a count in the
  // colour of losses counts losses.
  #earned(before) {
    const counts = (values) =>
      Object.fromEntries(
        [...values]
          .filter(([, card]) => card.k === "clock")
          .flatMap(([, card]) =>
            card.l.flatMap((line) =>
              (line.r ?? [])
                .filter((span) => span[0] === "t")
                .map((span) => [
                  span[1].replace(/-?\d+/g, "#"),
                  [Number(span[1].match(/-?\d+/)?.[0]), span[1], span[2]],
                ]),
            ),
          ),
      );
    if (!before.size) return;
    const old = counts(before),
      present = counts(this.values);
    const ended = Object.entries(old).filter(
      ([name, [value, , colour]]) => colour === WORKING && !(present[name]?.[0] <= value),
    );
    const changes = Object.entries(present)
      .filter(([, [, , colour]]) => colour !== WORKING)
      .map(([name, [value, words, colour]]) => ({
        gain: value - (old[name]?.[0] ?? value),
        words,
        counts: colour === BAD && value > 0 ? "bad" : "good",
      }));
    const changed = changes
      .filter(({ gain }) => gain)
      .map(({ gain, words, counts: kind }) => ({ gain, text: this.phrase(words), kind: gain < 0 ? "bad" : kind }));
    for (const [name] of ended) changed.push({ gain: 0, text: this.phrase(name.replace("#", "0")), kind: "change" });
    if (changed.length) this.counted(changed);
  }
}

// ------------------------------------------------------------------------------------------- markup of the board

function wrapped(label, size, width) {
  const lines = [""];
  for (const word of label.split(" ")) {
    const joined = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (widthOf(joined, size) <= width) lines[lines.length - 1] = joined;
    else if (widthOf(word, size) <= width && lines.length < 2) lines.push(word);
    else return null;
  }
  return lines.filter(Boolean);
}
function text(words, x, y, size, anchor = "middle", weight = "400") {
  return `<text x="${x}" y="${y}" font-size="${size}" font-family="${FONT}" font-weight="${weight}" fill="${INK}" text-anchor="${anchor}">${escaped(words)}</text>`;
}
function plate(words, x, y, size, t) {
  const width = (widthOf(words, size) + 4) / t,
    height = (size * 1.08) / t;
  return `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="${2.5 / t}" fill="#fffdf6" fill-opacity="0.9"/>${text(words, x, y + (0.35 * size) / t, size / t)}`;
}
function progress([done, whole, words], size, t) {
  const height = (size + 4) / t,
    y = 1 - height - 0.03,
    share = Math.min(1, Math.max(0, done / Math.max(1, whole)));
  // 2 of 3 free: 2 free, 2/3
  const shorter = [words, words.replace(/ of \d+/, ""), words.replace(/^(\d+) of (\d+).*/, "$1/$2")];
  const label = shorter.find((each) => widthOf(each, size) < t - 6) ?? words.split(" ")[0];
  return (
    `<rect x="0.04" y="${y}" width="0.92" height="${height}" rx="${3 / t}" fill="#fffdf6" stroke="${INK}" stroke-width="${1 / t}"/>` +
    `<rect x="0.055" y="${y + 1 / t}" width="${0.89 * share}" height="${height - 2 / t}" rx="${2 / t}" fill="#f3b24f"/>${text(label, 0.5, y + height / 2 + (0.35 * size) / t, size / t)}`
  );
}
function link([x, y, endX, endY, colour, arrow, crossed]) {
  const length = Math.hypot(endX - x, endY - y) || 1,
    along = [(endX - x) / length, (endY - y) / length];
  const point = (forward, side) =>
    `${(x + endX) / 2 + 0.12 * (forward * along[0] - side * along[1])},${(y + endY) / 2 + 0.12 * (forward * along[1] + side * along[0])}`;
  return (
    `<line x1="${x}" y1="${y}" x2="${endX}" y2="${endY}" stroke="${colour}" stroke-width="0.07"/>` +
    (arrow ? `<polygon points="${point(1.2, 0)} ${point(-1, 1)} ${point(-1, -1)}" fill="${colour}"/>` : "") +
    (crossed
      ? `<polyline points="${point(0, 1.5)} ${point(0, -1.5)}" stroke="${colour}" stroke-width="0.14" fill="none"/>`
      : "")
  );
}
