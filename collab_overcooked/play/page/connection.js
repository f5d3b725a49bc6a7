// The connection to the server, which is made again whenever it is lost.

import { address, now } from "/page/page.js";

let socket = null,
  wait = 500; // milliseconds until the next try
export const send = (message) => {
  if (socket?.readyState === 1) socket.send(JSON.stringify(message));
};
// the server keeps its size class and counts losses of focus
export const sendWindow = (lost) => send({ type: "window", width: innerWidth, lost });

// Calls what is named after a message's type, and opened and lost.
export function connect(handlers) {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${address}/socket`);
  socket.onopen = () => {
    wait = 500;
    handlers.opened();
  };
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    handlers[message.type]?.(message);
  };
  socket.onclose = () => {
    handlers.lost();
    if (now.final) return;
    setTimeout(() => connect(handlers), wait);
    wait = Math.min(5000, wait * 2);
  };
}
