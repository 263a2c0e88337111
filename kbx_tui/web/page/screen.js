// The terminal of the page: xterm.js with our font, as many cells as fit.

import { FitAddon } from "./addon-fit.mjs";
import { Unicode11Addon } from "./addon-unicode11.mjs";
import { Terminal } from "./xterm.mjs";

const FONT = '"kbx mono", monospace';
const CHOSEN = "kbx-letter-width";
const WIDTHS = { least: 4, normal: 9, most: 30 }; // of a letter, in pixels
const FEWEST_COLUMNS = 50; // the narrowest layout of the app
const EM = 2048 / 1233; // of the font, in widths of a letter
const HYPERLINK = 8; // OSC code
const COLOURS = {
  light: { background: "#e0e0e0", foreground: "#1b1b1b" },
  dark: { background: "#121212", foreground: "#e0e0e0" },
};

export class Screen {
  /** Show the terminal in `place`, once its fonts are there. */
  static async create(place, scheme) {
    allowStyles();
    await Promise.all(["", "bold "].map((weight) => document.fonts.load(`${weight}14px ${FONT}`)));
    return new Screen(place, scheme);
  }

  constructor(place, scheme) {
    this.place = place;
    this.terminal = new Terminal({
      allowProposedApi: true, // the widths of Unicode 11
      fontFamily: FONT,
      fontSize: this.letterWidth() * EM,
      macOptionIsMeta: true,
      scrollback: 0,
      theme: COLOURS[scheme],
    });
    this.fitting = new FitAddon();
    this.terminal.loadAddon(this.fitting);
    this.terminal.loadAddon(new Unicode11Addon());
    this.terminal.unicode.activeVersion = "11";
    this.terminal.parser.registerOscHandler(HYPERLINK, () => true); // the app opens links itself
    this.terminal.open(place);
    this.fit();
    this.terminal.onRender(() => this.blend());
  }

  get size() {
    return { width: this.terminal.cols, height: this.terminal.rows };
  }

  /** Take the size of the window. */
  fit() {
    this.terminal.options.fontSize = this.letterWidth() * EM;
    this.fitting.fit();
  }

  /** Make letters larger (1), smaller (-1) or as they were (0). */
  zoom(step) {
    const width = Math.round(this.letterWidth()) + step;
    if (step === 0) {
      localStorage.removeItem(CHOSEN);
    } else if (width >= WIDTHS.least && width <= WIDTHS.most) {
      localStorage.setItem(CHOSEN, String(width));
    }
    this.fit();
  }

  follow(scheme) {
    this.terminal.options.theme = COLOURS[scheme];
  }

  /** Return column and row, from 1, of a point in the window, and the height of a row. */
  cellAt(x, y) {
    const { left, top, width, height } = this.place.querySelector(".xterm-screen").getBoundingClientRect();
    const { cols, rows } = this.terminal;
    const within = (part, whole, cells) => Math.min(Math.max(Math.floor((part / whole) * cells), 0), cells - 1) + 1;
    return {
      column: within(x - left, width, cols),
      row: within(y - top, height, rows),
      height: height / rows,
    };
  }

  /** Return whole pixels of the screen, so that blocks join; 50 letters fit unless one was chosen. */
  letterWidth() {
    const ratio = window.devicePixelRatio;
    const most = Math.floor((this.place.clientWidth * ratio) / FEWEST_COLUMNS) / ratio;
    const chosen = Number(localStorage.getItem(CHOSEN));
    return chosen || Math.max(Math.min(WIDTHS.normal, most), WIDTHS.least);
  }

  /** Give the edge of the window, which is narrower than a cell, the colour of the app. */
  blend() {
    const buffer = this.terminal.buffer.active;
    const cell = buffer.getLine(buffer.baseY)?.getCell(this.terminal.cols - 1);
    if (cell?.isBgRGB()) {
      document.body.style.background = `#${cell.getBgColor().toString(16).padStart(6, "0")}`;
    }
  }
}

/** Let xterm.js make style elements: the policy of the page wants a nonce on each. */
function allowStyles() {
  const { nonce } = document.querySelector("script[nonce]");
  const create = document.createElement.bind(document);
  document.createElement = (name, options) => {
    const element = create(name, options);
    if (name === "style") {
      element.nonce = nonce;
    }
    return element;
  };
}
