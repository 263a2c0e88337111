// The page of a browser that is not known yet: it exchanges the token of a link for a cookie.

import { showNotice } from "./notice.js";

const RELOADED = "kbx-reloaded";
const WHAT_TO_DO = "Run `kbx web --new-link` on the machine that serves it, and open what it prints.";

async function enter(token) {
  const answer = await fetch("enter", { method: "POST", body: token });
  if (answer.ok) {
    location.replace(location.pathname + location.search);
  } else {
    showNotice(`This page cannot be opened: ${(await answer.text()).trim()}. ${WHAT_TO_DO}`);
  }
}

async function start() {
  const token = location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", location.pathname + location.search); // not in the history
    await enter(token);
  } else if (!sessionStorage.getItem(RELOADED)) {
    // A link on another page leads here without the cookie (SameSite=Strict); this page has it.
    sessionStorage.setItem(RELOADED, "yes");
    location.replace(location.href);
  } else {
    sessionStorage.removeItem(RELOADED);
    showNotice(`This page needs a link. ${WHAT_TO_DO}`);
  }
}

start().catch(() => showNotice("The server cannot be reached. Reload the page to try again."));
