// Shows the OpenAPI document as a page. Text is only ever set as text.

import { HEADER, readKey } from "./login-key.js";

const main = document.getElementById("main");
const about = document.getElementById("about");

function add(parent, name, text, className) {
  const one = document.createElement(name);
  if (text) one.textContent = text;
  if (className) one.className = className;
  parent.append(one);
  return one;
}

function schemaOf(content) {
  const [kind, found] = Object.entries(content ?? {})[0] ?? [];
  return kind ? { kind, schema: found.schema } : null;
}

function show(parent, title, content) {
  const found = schemaOf(content);
  if (!found) return;
  add(parent, "p", `${title} · ${found.kind}`, "quiet");
  add(parent, "pre", JSON.stringify(found.schema, null, 2));
}

function showOperation(path, method, one) {
  const box = add(main, "details");
  const head = add(box, "summary");
  add(head, "span", method.toUpperCase(), "method");
  add(head, "code", path);
  add(box, "p", `${one.summary}. Needs ${one["x-scope"]}.`);
  for (const given of one.parameters) {
    const line = add(box, "p");
    add(line, "code", given.name);
    const must = given.required ? ", needed" : "";
    add(line, "span", ` in ${given.in}${must}: ${JSON.stringify(given.schema)}`, "quiet");
  }
  show(box, "Takes", one.requestBody?.content);
  const [status, done] = Object.entries(one.responses)[0];
  show(box, `Gives ${status}`, done.content);
}

async function load() {
  const base = new URL("../../", location.href).pathname;
  const response = await fetch("openapi.json", { headers: { [HEADER]: await readKey(base) } });
  if (!response.ok) {
    about.textContent = "Sign in first, then reload this page.";
    return;
  }
  const all = await response.json();
  about.textContent = `${all.info.description} Version ${all.info.version}.`;
  for (const [path, methods] of Object.entries(all.paths)) {
    for (const [method, one] of Object.entries(methods)) showOperation(path, method, one);
  }
  add(main, "h2", "Structures");
  for (const [name, schema] of Object.entries(all.components.schemas)) {
    const box = add(main, "details");
    add(add(box, "summary"), "code", name);
    add(box, "pre", JSON.stringify(schema, null, 2));
  }
}

void load();
