// Keys that the page handles itself, and a row of keys for devices that have none.

const SIZE_KEYS = { "+": 1, "=": 1, "-": -1, _: -1, 0: 0 };
const ROW = [
  ["esc", "\x1b", "escape"],
  ["tab", "\t", "tab"],
  ["↑", "\x1b[A", "up"],
  ["↓", "\x1b[B", "down"],
  ["←", "\x1b[D", "left"],
  ["→", "\x1b[C", "right"],
  ["↵", "\r", "enter"],
  ["?", "?", "help"],
  ["all", "\x1b[19~", "all commands"], // F8
];

/** Return the handler for xterm.js: false leaves a key to the browser, or to the page. */
export function keyHandler({ zoom, copySelection }) {
  return (event) => {
    const command = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (command && event.key in SIZE_KEYS) {
      if (event.type === "keydown") {
        zoom(SIZE_KEYS[event.key]);
      }
      event.preventDefault();
      return false;
    }
    const key = event.key.toLowerCase();
    if ((command && key === "v") || (event.shiftKey && key === "insert")) {
      return false; // the browser pastes
    }
    if (command && key === "c" && (event.shiftKey || event.metaKey)) {
      if (event.type === "keydown") {
        copySelection();
      }
      event.preventDefault();
      return false;
    }
    return true;
  };
}

/** Fill the row of keys; `type` sends what a key types, `toggle` shows or hides the keyboard. */
export function fillKeyRow(row, { type, toggle }) {
  const button = (label, act, title) => {
    const element = document.createElement("button");
    element.textContent = label;
    element.title = title;
    element.tabIndex = -1;
    element.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus
    element.addEventListener("click", act);
    row.append(element);
  };
  for (const [label, text, title] of ROW) {
    button(label, () => type(text), title);
  }
  button("abc", toggle, "keyboard");
  row.hidden = false;
}
