// A box over the page with one sentence, and what can be done about it.

const BRIEF_MS = 6000;
const box = document.getElementById("notice");
let hiding = 0;

/** Show a text; with `button` and `act`, something to press. Text is never read as HTML. */
export function showNotice(text, { button = "", act = null, brief = false, link = "" } = {}) {
  clearTimeout(hiding);
  const parts = [document.createTextNode(text)];
  if (link) {
    const anchor = document.createElement("a");
    Object.assign(anchor, { href: link, target: "_blank", rel: "noopener noreferrer" });
    anchor.textContent = link;
    parts.push(anchor);
  }
  if (button) {
    const element = document.createElement("button");
    element.textContent = button;
    element.addEventListener("click", () => {
      hideNotice();
      act();
    });
    parts.push(element);
  }
  box.replaceChildren(...parts);
  box.classList.toggle("brief", brief);
  box.hidden = false;
  if (button) {
    box.querySelector("button").focus();
  }
  if (brief) {
    hiding = setTimeout(hideNotice, BRIEF_MS);
  }
}

export function hideNotice() {
  clearTimeout(hiding);
  box.hidden = true;
}
