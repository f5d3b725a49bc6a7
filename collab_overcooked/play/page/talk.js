// Talk of all seats: the list, a bubble over who speaks, a badge where the list is out of sight, and sounds.
import { phrase } from "/page/language.js";

const $ = (id) => document.getElementById(id);
const TONES = { message: [660], order: [520, 660], gain: [660, 880, 1040], loss: [330, 260] }; // hertz
let audio = null,
  unread = 0,
  inView = true;

export class Talk {
  // picture: takes the bubbles; say: words of the page; nameOf: name of a seat; own: returns the seat of this page.
  constructor({ picture, say, nameOf, own }) {
    Object.assign(this, { picture, say, nameOf, own });
    new IntersectionObserver(([seen]) => {
      inView = seen.isIntersecting;
      if (inView) this.read();
    }).observe($("said"));
    $("unread").onclick = () => {
      $("talk").scrollIntoView({ block: "center" });
      this.read();
    };
  }

  read() {
    unread = 0;
    $("unread").hidden = true;
  }

  clear() {
    $("said").replaceChildren();
    this.read();
  }

  // announced: whether it has been said just now
  add({ agent, say: text, plan }, announced = true) {
    if (!text) return;
    const item = document.createElement("p"),
      name = document.createElement("b"),
      mine = agent !== null && agent === this.own();
    name.textContent = `${this.nameOf(agent)}${mine ? ` (${this.say("you")})` : ""}:`;
    item.append(name, text);
    if (plan) {
      const part = document.createElement("i");
      part.textContent = `[${plan
        .split(";")
        .map((step) => phrase(step.trim()))
        .join("; ")}]`;
      item.append(" ", part);
    }
    $("said").append(item);
    while ($("said").children.length > 200) $("said").firstChild.remove();
    $("said").scrollTop = $("said").scrollHeight;
    if (mine || !announced) return;
    if (agent !== null) this.picture.speak(agent, text);
    sound("message");
    if (inView) return;
    unread += 1;
    $("unread").textContent = this.say("unread", { n: unread });
    $("unread").hidden = false;
  }
}

export function sound(name) {
  if (!$("sound").checked) return;
  audio ??= new AudioContext();
  TONES[name].forEach((hertz, i) => {
    const tone = audio.createOscillator(),
      loud = audio.createGain(),
      start = audio.currentTime + 0.09 * i;
    tone.frequency.value = hertz;
    loud.gain.setValueAtTime(0.12, start);
    loud.gain.exponentialRampToValueAtTime(0.001, start + 0.16);
    tone.connect(loud).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 0.17);
  });
}
