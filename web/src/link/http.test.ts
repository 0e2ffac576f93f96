import { expect, test, vi } from "vitest";
import { FakeIndexedDb } from "../../tests/fake-indexed-db.ts";
import { blobBytes, upload } from "./blobs.ts";
import { call } from "./http.ts";
import { deleteLoginKey } from "./login-key.ts";

/** Answers everything, and notes the headers. */
function gateway(base = ""): Record<string, string>[] {
  const asked: Record<string, string>[] = [];
  vi.stubGlobal("document", { documentElement: { dataset: { base } } });
  vi.stubGlobal("fetch", async (_: string, init: { headers: Record<string, string> }) => {
    asked.push(init.headers);
    return new Response(JSON.stringify({ digest: "d" }));
  });
  return asked;
}

test("a04: every request carries the key of the login, as it is at that moment", async () => {
  const kept = new FakeIndexedDb({ "/": "one", "/boat/": "other" });
  vi.stubGlobal("indexedDB", kept);
  const asked = gateway();
  await call("GET", "/me");
  await call("POST", "/sessions", { a: 1 });
  await upload(new Blob(["x"]));
  await blobBytes("d", 100);
  expect(asked.map((one) => one["flybridge-login-key"])).toEqual(["one", "one", "one", "one"]);
  expect(asked[1]?.["content-type"]).toBe("application/json");
  kept.values["/"] = "two"; // somebody signed in again, in another tab
  await call("GET", "/me");
  expect(asked.at(-1)?.["flybridge-login-key"]).toBe("two");
});

test("a04: gateways that share a host have a key each, and signing out deletes one", async () => {
  const kept = new FakeIndexedDb({ "/": "one", "/boat/": "other" });
  vi.stubGlobal("indexedDB", kept);
  const asked = gateway("/boat");
  await call("GET", "/me");
  expect(asked[0]?.["flybridge-login-key"]).toBe("other");
  await deleteLoginKey();
  expect(kept.values).toEqual({ "/": "one" });
});

test("a04: a browser that keeps nothing sends no key, and nothing breaks", async () => {
  const asked = gateway();
  for (const found of [undefined, new FakeIndexedDb({}, true)]) {
    vi.stubGlobal("indexedDB", found);
    await call("GET", "/me");
    await deleteLoginKey();
  }
  expect(asked.map((one) => one["flybridge-login-key"])).toEqual(["", ""]);
});
