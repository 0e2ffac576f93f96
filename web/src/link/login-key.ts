/**
 * The second half of a login.
 *
 * Browsers send a cookie to every port of a host, so the cookie alone grants nothing. This key is kept
 * in IndexedDB, which belongs to one port, and goes along with every request: in a header, or in the
 * first message of a socket. It never stands in an address. The sign-in page stores it
 * (frontends/http/static/login-key.js) and several tabs share it, so it is read anew for each request.
 */
import { basePath } from "./base.ts";

export const LOGIN_KEY = "flybridge-login-key";
const DATABASE = "flybridge";
const STORE = "login";

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("not stored")));
  });
}

async function withStore<T>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore(STORE));
  const database = await settled(opening);
  try {
    return await settled(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close(); // it waits for what is under way
  }
}

/** Several gateways may share a host behind a proxy, each below a path of its own. */
function place(): string {
  return `${basePath()}/`;
}

/** The key of this browser's login; "": there is none, and nobody is signed in here. */
export async function readLoginKey(): Promise<string> {
  try {
    const found: unknown = await withStore("readonly", (store) => store.get(place()));
    return typeof found === "string" ? found : "";
  } catch {
    return ""; // a browser that keeps nothing was told so when somebody tried to sign in
  }
}

export async function deleteLoginKey(): Promise<void> {
  await withStore("readwrite", (store) => store.delete(place())).catch(() => undefined);
}
