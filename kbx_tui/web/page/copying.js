// The clipboard and the downloads of the browser.

import { showNotice } from "./notice.js";

const REVOKE_MS = 60000;

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

/** Save a text as a file. It is no page of ours, whatever it holds: the browser must not open it. */
export function saveFile(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const anchor = document.createElement("a");
  Object.assign(anchor, { href: address, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_MS);
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
