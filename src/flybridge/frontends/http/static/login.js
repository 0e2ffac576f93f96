// Logs a browser in: with the ticket behind the # of the link, or with the password.
// The ticket goes to our own server only, and leaves the address bar before anything else.

import { HEADER, canStore, readKey, storeKey } from "./login-key.js";

// A browser that never logged in need not ask whether it is: a refusal would stand in its console.
const WAS_IN = "flybridge-was-in";
const said = document.getElementById("said");
const form = document.getElementById("form");
const inside = document.getElementById("inside");
const password = document.getElementById("password");
const base = new URL("./", location.href).pathname;
const CANNOT_STORE =
  "This browser does not let this page store data (IndexedDB), so it cannot stay signed in. " +
  "Allow site data for this address, or use a window that is not private.";

function say(text, wrong) {
  said.textContent = text;
  said.className = wrong ? "wrong" : "";
}

async function login(body) {
  if (!(await canStore())) {
    say(CANNOT_STORE, true); // a ticket is good once: it is not spent here
    return;
  }
  const response = await fetch("api/v1/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.ok) {
    try {
      await storeKey(base, (await response.json()).key);
    } catch {
      say(CANNOT_STORE, true);
      return;
    }
    localStorage.setItem(WAS_IN, "yes");
    await look();
    return;
  }
  if (response.status === 429) {
    say(`Too many wrong tries. Wait ${response.headers.get("retry-after")} seconds.`, true);
  } else if (response.status === 403) {
    const problem = await response.json().catch(() => ({}));
    say(problem.data?.why || problem.detail || "You cannot log in from here.", true);
  } else {
    say(body.ticket ? "This link was used before, or is too old." : "That is not it.", true);
  }
}

async function look() {
  const response = await fetch("api/v1/me", { headers: { [HEADER]: await readKey(base) } });
  if (!response.ok) {
    localStorage.removeItem(WAS_IN);
    return;
  }
  const me = await response.json();
  form.hidden = true;
  inside.hidden = false;
  say(`Logged in as ${me.principal}.`, false);
  location.replace(cameFrom());
}

// Where the page was when it found nobody logged in: a path of our own, or the door.
function cameFrom() {
  const path = sessionStorage.getItem("flybridge-next") ?? "";
  sessionStorage.removeItem("flybridge-next");
  return /^\/[\w~-][\w~./-]*$/.test(path) ? path : "./";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void login({ password: password.value });
  password.value = "";
});

// Whether the address brought a ticket; somebody may follow a link while this page is open.
function followTicket() {
  const ticket = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (!/^[\w-]{20,200}$/.test(ticket)) return false;
  say("Logging in …", false);
  void login({ ticket });
  return true;
}

addEventListener("hashchange", followTicket);
if (!followTicket() && localStorage.getItem(WAS_IN) !== null) void look();
