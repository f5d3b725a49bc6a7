// Plays the replays of a page, drawn by picture.js.
(() => {
  const { episodes: replays, sprites, labels } = JSON.parse(document.getElementById("replays").textContent);
  const exchanges = JSON.parse(document.getElementById("exchanges").textContent);
  const at = (id) => document.getElementById(id);
  const chooser = at("episode"),
    slider = at("slider"),
    play = at("play"),
    story = at("story");
  const pace = 500; // milliseconds of a timestep
  let replay = null,
    picture = null,
    wording = null,
    now = 0,
    timer = null;

  // Texts come from policies, language models among them: they are only ever set as text, never as markup.
  const add = (parent, tag, text, name) => {
    const node = parent.appendChild(document.createElement(tag));
    node.textContent = text;
    if (name) node.className = name;
    return node;
  };

  const happened = (step) => step.events.some((event) => event) || step.messages.length || step.errors.length;

  // Who was told what before the episode; what all were told stands there once.
  const lessons = () => {
    const told = replay.feedback;
    if (told.length > 1 && told.every((words) => words === told[0]))
      return told[0] ? [`All were told: ${told[0]}`] : [];
    return told.map((words, seat) => words && `${replay.names[seat]} was told: ${words}`).filter(Boolean);
  };

  const moment = (t) => {
    const item = add(story, "li", "");
    item.dataset.step = t;
    add(item, "span", `${t}`, "t");
    item.addEventListener("click", () => {
      stop();
      show(t);
    });
    return add(item, "div", "");
  };

  const tell = (item, step) => {
    step.messages.forEach((message) => {
      const line = add(
        item,
        "span",
        `${message.agent === null ? "A voice" : replay.names[message.agent]}: ${message.say}`,
        "said",
      );
      if (message.plan) add(line, "span", `  [${message.plan}]`, "plan");
    });
    step.errors.forEach((error) => {
      add(item, "span", `${replay.names[error.agent]}, ${error.action} refused: ${error.message}`, "bad");
    });
    step.events.forEach((event, seat) => {
      if (event) add(item, "span", `${replay.names[seat]}: ${event}`, "did");
    });
  };

  const open = (index) => {
    stop();
    replay = replays[index];
    wording.setSingle(replay.single);
    picture.letters = replay.steps.some((step) => step.actions.some((action) => /\b[a-z]\d+\b/.test(action)));
    picture.clear();
    slider.max = replay.steps.length;
    story.replaceChildren();
    const told = lessons();
    if (told.length) {
      const item = moment(0);
      told.forEach((words) => add(item, "span", words, "told"));
    }
    replay.steps.forEach((step, i) => {
      if (happened(step)) tell(moment(i + 1), step);
    });
    show(0);
  };

  // A question to a language model, which opens on a click.
  const question = (card, link, number) => {
    const found = exchanges.found[link];
    if (!found) {
      add(card, "div", `Question ${number} stands in exchanges.jsonl: ${link}`, "soft");
      return;
    }
    const box = add(card, "details", "", "question");
    add(box, "summary", `Question ${number}: ${found.about}`);
    found.parts.forEach(([name, text]) => {
      add(box, "strong", name);
      add(box, "pre", exchanges.texts[text]);
    });
  };

  const seatCard = (panel, seat, step) => {
    const card = add(panel, "div", "", step?.events[seat] ? "seat did" : "seat");
    add(card, "strong", `${replay.names[seat]} `);
    add(card, "span", `${replay.seats[seat]}`, "soft");
    card.append(document.createElement("br"));
    add(card, "code", step ? step.actions[seat] : "at the start");
    if (!step) return;
    step.errors
      .filter((error) => error.agent === seat)
      .forEach((error) => {
        add(card, "div", `${error.action} refused (${error.code}): ${error.message}`, "refused");
      });
    if (step.events[seat]) add(card, "div", step.events[seat], "what");
    (step.exchanges[seat] || []).forEach((link, i) => question(card, link, i + 1));
  };

  // The picture after t steps, which differences lead to.
  const pictureAt = (t) => {
    const values = new Map();
    for (const { put, drop = [] } of replay.frames.slice(0, t + 1)) {
      drop.forEach((key) => values.delete(key));
      Object.entries(put).forEach(([key, value]) => values.set(key, value));
    }
    return values;
  };

  const draw = (t, seconds) => {
    const wanted = pictureAt(t),
      has = picture.values;
    const put = Object.fromEntries(
      [...wanted].filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(has.get(key))),
    );
    picture.apply({ put, drop: [...has.keys()].filter((key) => !wanted.has(key)) }, seconds);
    picture.stage.setAttribute("aria-label", `${replay.title}: the picture after ${t} timesteps`);
  };

  const show = (t, seconds = 0) => {
    now = Math.max(0, Math.min(replay.steps.length, t));
    const step = now ? replay.steps[now - 1] : null;
    draw(now, seconds);
    slider.value = now;
    slider.setAttribute("aria-valuetext", `timestep ${now} of ${replay.steps.length}`);
    at("when").textContent = `Timestep ${now} of ${replay.steps.length}`;
    at("outcome").textContent = now === replay.steps.length ? replay.outcome : "";
    const panel = at("seats");
    panel.replaceChildren();
    replay.seats.forEach((told, seat) => {
      if (told !== null) seatCard(panel, seat, step);
    }); // null: not shown
    let current = null;
    story.querySelectorAll("li").forEach((item) => {
      item.classList.remove("now");
      if (Number(item.dataset.step) <= now) current = item;
    });
    if (current) {
      current.classList.add("now");
      story.scrollTop = current.offsetTop - story.offsetTop - story.clientHeight / 2;
    } else {
      story.scrollTop = 0;
    }
  };

  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };

  const toggle = () => {
    if (timer) {
      stop();
      return;
    }
    if (now === replay.steps.length) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      show(now + 1, (0.8 * pace) / 1000);
      if (now === replay.steps.length) stop();
    }, pace);
  };

  const keys = {
    ArrowLeft: () => {
      stop();
      show(now - 1);
    },
    ArrowRight: () => {
      stop();
      show(now + 1);
    },
    Home: () => {
      stop();
      show(0);
    },
    End: () => {
      stop();
      show(replay.steps.length);
    },
    " ": toggle,
  };

  const start = () => {
    wording = new Wording(labels);
    const phrase = (text) => wording.phrase(text);
    picture = new Picture({
      stage: at("stage"),
      panel: at("panel"),
      hud: at("hud"),
      orders: at("orders"),
      phrase,
      counted() {},
    });
    picture.whole = true;
    picture.apply({ put: sprites });
    addEventListener("resize", () => picture.resize());
    replays.forEach((entry, i) => {
      const option = add(chooser, "option", entry.title);
      option.value = i;
    });
    chooser.addEventListener("change", () => open(Number(chooser.value)));
    slider.addEventListener("input", () => {
      stop();
      show(Number(slider.value));
    });
    play.addEventListener("click", toggle);
    at("back").addEventListener("click", keys.ArrowLeft);
    at("forth").addEventListener("click", keys.ArrowRight);
    at("player").addEventListener("keydown", (event) => {
      if (event.target === chooser || (event.target.tagName === "BUTTON" && event.key === " ")) return;
      if (keys[event.key]) {
        event.preventDefault();
        keys[event.key]();
      }
    });
    const wanted = /^#(\d+)(?:\.(\d+))?$/.exec(location.hash); // #2.14: third episode, timestep 14
    const first = wanted && replays[wanted[1]] ? Number(wanted[1]) : 0;
    chooser.value = first;
    open(first);
    if (wanted?.[2]) show(Number(wanted[2]));
  };

  if (replays.length) start();
  document.documentElement.dataset.ready = "yes";
})();
