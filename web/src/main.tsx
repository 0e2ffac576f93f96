import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Shell } from "./shell.tsx";
import { socketUrl } from "./link/base.ts";
import { request } from "./link/http.ts";
import { readLoginKey } from "./link/login-key.ts";
import { isCurrent } from "./link/page.ts";
import { mindReturning } from "./link/returning.ts";
import { AppContext } from "./parts/use-store.ts";
import { App } from "./store/app.ts";
import "./style/tokens.css";
import "./style/fonts.css";
import "./style/base.css";

/** `crypto.randomUUID` is there in secure places only, and a home network may be none. */
function newName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
}

const app = new App({
  open: () => new WebSocket(socketUrl()),
  shelf: sessionStorage,
  cupboard: localStorage,
  newId: () => `web-${newName()}`,
  loginKey: readLoginKey,
  isLoggedIn: () =>
    request("/me").then(
      (answer) => answer.status !== 401,
      () => true, // nobody is there to say no
    ),
  isCurrent: () => isCurrent(import.meta.url),
});
// the gateway wrote the theme of a cookie into the page; what this browser kept may be gone
const given = document.documentElement.dataset["theme"];
if (app.settings.now.theme === "system" && (given === "dark" || given === "light")) {
  app.settings.set({ theme: given });
}
app.start();

mindReturning(app.link, window, document);
// a part of the page is not there: maybe all of it is of yesterday
addEventListener("vite:preloadError", () => void app.checkPage());

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <AppContext value={app}>
          <Shell />
        </AppContext>
      </CSPProvider>
    </StrictMode>,
  );
}
