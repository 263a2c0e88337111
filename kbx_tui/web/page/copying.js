// The clipboard of the browser.

import { showNotice } from "./notice.js";

/** Copy a text; where the browser wants a click for that, ask for one. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text); // missing where the page is not encrypted
  } catch {
    if (!copyBySelection(text)) {
      const act = () => copyBySelection(text);
      showNotice("The browser copies only after a click.", { button: "Copy", act });
    }
  }
}

function copyBySelection(text) {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus();
  return copied;
}
