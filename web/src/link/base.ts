/** Where the gateway is: the page may live below a path that only its proxy knows. */
export function basePath(): string {
  return document.documentElement.dataset["base"] ?? "";
}

export function apiUrl(path: string): string {
  return `${basePath()}/api/v1${path}`;
}

export function socketUrl(): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}${apiUrl("/ws")}`;
}
