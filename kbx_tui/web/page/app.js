// The page of the app: a terminal, and what it tells the server.

import { Connection } from "./connection.js";
import { copyText, saveFile } from "./copying.js";
import { fillKeyRow, keyHandler } from "./keyboard.js";
import { hideNotice, showNotice } from "./notice.js";
import { Screen } from "./screen.js";
import { followTouch } from "./touch.js";

const ENDED = 4000;
const ELSEWHERE = 4001;
const TRIES_BEFORE_NOTICE = 2;

const dark = matchMedia("(prefers-color-scheme: dark)");
const touches = matchMedia("(pointer: coarse)").matches;
const scheme = () => (dark.matches ? "dark" : "light");
const place = document.getElementById("terminal");

const screen = await Screen.create(place, scheme());
const { terminal } = screen;
let focusIsKnown = false; // by the app
const opening = () => ({ ...screen.size, scheme: scheme() });

const connection = new Connection(opening, {
  output: (bytes) => terminal.write(bytes),
  session({ resumed }) {
    if (!resumed) {
      terminal.reset();
    }
    hideNotice();
    if (!touches) {
      terminal.focus();
    }
    focusIsKnown = false;
  },
  page({ title, query }) {
    if (!focusIsKnown) {
      connection.send(document.hasFocus() ? "focus" : "blur"); // the app starts without
      focusIsKnown = true;
    }
    document.title = title;
    connection.showed(query);
    const address = new URL(location.href);
    address.search = query ? new URLSearchParams({ q: query }) : "";
    address.hash = ""; // of a link that this browser did not need
    history.replaceState(null, "", address);
  },
  copy: ({ text }) => copyText(text),
  file: ({ name, text }) => saveFile(name, text),
  link({ url }) {
    window.open(url, "_blank", "noopener,noreferrer");
    showNotice("Opened in a new tab: ", { link: url, brief: true });
  },
  closed(code, reason) {
    const button = { [ENDED]: "Start again", [ELSEWHERE]: "Show it here" }[code] ?? "Try again";
    showNotice(`${reason}.`, { button, act: () => connection.open() });
  },
  cut(tries) {
    if (tries >= TRIES_BEFORE_NOTICE) {
      showNotice("The connection is cut. Trying again; the app waits for a minute.");
      askForLinkIfUnknown();
    }
  },
});

/** Reload when the server no longer knows this browser: the page then says what to do. */
async function askForLinkIfUnknown() {
  try {
    const page = await (await fetch(location.pathname, { cache: "no-store" })).text();
    if (page.includes('id="entry"')) {
      location.reload();
    }
  } catch {
    // The server is not there; the connection tries again.
  }
}

function copySelection() {
  if (terminal.hasSelection()) {
    copyText(terminal.getSelection());
  } else {
    connection.type("\x03"); // the app copies what is marked in it
  }
}

terminal.attachCustomKeyEventHandler(keyHandler({ zoom: (step) => screen.zoom(step), copySelection }));
terminal.onData((text) => connection.type(text));
terminal.onResize(({ cols, rows }) => connection.send("resize", { width: cols, height: rows }));
addEventListener("focus", () => connection.send("focus"));
addEventListener("blur", () => connection.send("blur"));
dark.addEventListener("change", () => {
  screen.follow(scheme());
  connection.send("scheme", scheme());
});

if (touches) {
  const toggle = () => (document.activeElement === terminal.textarea ? terminal.blur() : terminal.focus());
  fillKeyRow(document.getElementById("keys"), { type: (text) => connection.type(text), toggle });
  screen.fit(); // beside the row of keys, before the app is started in this size
  followTouch(place, (x, y) => screen.cellAt(x, y), (text) => connection.type(text));
  visualViewport?.addEventListener("resize", () => {
    document.body.style.height = `${visualViewport.height}px`; // above the keyboard
  });
}
new ResizeObserver(() => requestAnimationFrame(() => screen.fit())).observe(place);
connection.open();
