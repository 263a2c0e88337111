// The socket to the server: opens it, and opens it again when the connection is cut.

const SESSION = "kbx-session";
const QUERY = "kbx-query";
const RETRY_MS = [250, 500, 1000, 2000, 4000];
const PING_MS = 10000;
const PIECES = /[^]{1,8000}/gu; // of a paste, each a message; no character is more than six bytes
const CLOSED_BY_SERVER = 4000; // codes from here on; the page asks before it tries again

export class Connection {
  /** `opening()` returns size and scheme; `on` has a function for each event and message. */
  constructor(opening, on) {
    this.opening = opening;
    this.on = on;
    this.tries = 0;
    this.timer = 0;
    this.awaited = false;
    setInterval(() => this.ping(), PING_MS);
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => this.retryNow());
  }

  open() {
    clearTimeout(this.timer);
    const address = new URL("socket", document.baseURI);
    address.protocol = address.protocol.replace("http", "ws");
    address.search = address.hash = "";
    const socket = new WebSocket(address);
    this.socket = socket;
    this.awaited = false;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      const query = new URLSearchParams(location.search).get("q") ?? "";
      const session = sessionStorage.getItem(SESSION);
      this.send("open", { ...this.opening(), session, query });
    });
    socket.addEventListener("message", (event) => this.receive(socket, event.data));
    socket.addEventListener("close", (event) => this.closed(socket, event));
  }

  send(...message) {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  }

  type(text) {
    for (const piece of text.match(PIECES) ?? []) {
      this.send("stdin", piece);
    }
  }

  /** Note the query that the app shows, so that another one in the address is noticed. */
  showed(query) {
    sessionStorage.setItem(QUERY, query);
  }

  receive(socket, data) {
    if (socket !== this.socket) {
      return;
    }
    this.awaited = false;
    if (data instanceof ArrayBuffer) {
      this.on.output(new Uint8Array(data));
      return;
    }
    const [kind, fields] = JSON.parse(data);
    if (kind === "session") {
      this.tries = 0;
      sessionStorage.setItem(SESSION, fields.id);
      this.on.session(fields);
      const query = new URLSearchParams(location.search).get("q") ?? "";
      if (fields.resumed && query !== (sessionStorage.getItem(QUERY) ?? "")) {
        this.send("query", query);
      }
    } else if (kind !== "pong") {
      this.on[kind]?.(fields);
    }
  }

  closed(socket, event) {
    if (socket !== this.socket) {
      return;
    }
    this.socket = null;
    if (event.code >= CLOSED_BY_SERVER) {
      this.on.closed(event.code, event.reason);
      return;
    }
    const wait = RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)];
    this.tries += 1;
    this.on.cut(this.tries);
    this.timer = setTimeout(() => this.open(), wait);
  }

  retryNow() {
    if (!this.socket && this.tries > 0 && !document.hidden) {
      this.open();
    }
  }

  /** Notice a connection that is gone without a word. */
  ping() {
    if (!this.socket || this.socket.readyState !== WebSocket.OPEN) {
      return;
    }
    if (this.awaited) {
      const socket = this.socket;
      this.closed(socket, { code: 1006 });
      socket.close();
      return;
    }
    this.awaited = true;
    this.send("ping");
  }
}
