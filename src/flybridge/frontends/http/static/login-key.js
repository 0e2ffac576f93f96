// The second half of a login. Browsers send a cookie to every port of a host, so the cookie alone
// grants nothing: this key is kept in IndexedDB, which belongs to one port, and is sent as a header.
// The page has the same in web/src/link/login-key.ts: both use one database.

export const HEADER = "flybridge-login-key";
const DATABASE = "flybridge";
const STORE = "login";

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function withStore(mode, use) {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await settled(opening);
  try {
    const transaction = database.transaction(STORE, mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const value = await settled(use(transaction.objectStore(STORE)));
    await done;
    return value;
  } finally {
    database.close();
  }
}

// Several gateways may share a host behind a proxy, each below a path of its own: `base` ends with a slash.
export async function readKey(base) {
  try {
    const found = await withStore("readonly", (store) => store.get(base));
    return typeof found === "string" ? found : "";
  } catch {
    return "";
  }
}

export function storeKey(base, key) {
  return withStore("readwrite", (store) => store.put(key, base));
}

// Whether this browser can keep a key at all: some private windows cannot.
export async function canStore() {
  try {
    await withStore("readwrite", (store) => store.put("", "test"));
    await withStore("readwrite", (store) => store.delete("test"));
    return true;
  } catch {
    return false;
  }
}
