// Fingers as a mouse: a tap clicks, a swipe up or down scrolls, a swipe to the side drags.

const TAP_MS = 600;
const SLACK = 8; // pixels that a finger moves without meaning to
const PRESS = 0;
const MOVE = 32;
const WHEEL_UP = 64;
const WHEEL_DOWN = 65;

/** Send what fingers on `element` do; `cellAt(x, y)` returns column and row from 1 and the height. */
export function followTouch(element, cellAt, type) {
  let start = null;
  const report = (button, cell, end = "M") => type(`\x1b[<${button};${cell.column};${cell.row}${end}`);

  const began = (event) => {
    const finger = event.touches[0];
    start = event.touches.length === 1 ? { x: finger.clientX, y: finger.clientY } : null;
    if (start) {
      start.at = event.timeStamp;
      start.scrolled = 0;
      start.kind = "tap";
    }
    event.preventDefault();
  };

  const moved = (event) => {
    event.preventDefault();
    if (!start) {
      return;
    }
    const { clientX, clientY } = event.touches[0];
    const [dx, dy] = [clientX - start.x, clientY - start.y];
    if (start.kind === "tap" && Math.hypot(dx, dy) > SLACK) {
      start.kind = Math.abs(dx) > Math.abs(dy) ? "drag" : "scroll";
      if (start.kind === "drag") {
        report(PRESS, cellAt(start.x, start.y));
      }
    }
    if (start.kind === "drag") {
      start.last = cellAt(clientX, clientY);
      report(MOVE, start.last);
    } else if (start.kind === "scroll") {
      const cell = cellAt(start.x, start.y);
      const rows = Math.trunc(dy / cell.height);
      for (; start.scrolled < rows; start.scrolled += 1) {
        report(WHEEL_UP, cell);
      }
      for (; start.scrolled > rows; start.scrolled -= 1) {
        report(WHEEL_DOWN, cell);
      }
    }
  };

  const ended = (event) => {
    event.preventDefault();
    if (!start) {
      return;
    }
    if (start.kind === "drag") {
      report(PRESS, start.last, "m");
    } else if (event.type === "touchend" && start.kind === "tap" && event.timeStamp - start.at < TAP_MS) {
      const cell = cellAt(start.x, start.y);
      report(PRESS, cell);
      report(PRESS, cell, "m");
    }
    start = null;
  };

  element.addEventListener("touchstart", began, { passive: false });
  element.addEventListener("touchmove", moved, { passive: false });
  element.addEventListener("touchend", ended, { passive: false });
  element.addEventListener("touchcancel", ended, { passive: false });
}
