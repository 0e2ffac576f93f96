/** The gateway's HTTP interface, for what is not asked over the socket. */
import { fieldsOf, textOf } from "../store/values.ts";
import { apiUrl } from "./base.ts";
import { GatewayError } from "./errors.ts";
import { LOGIN_KEY, readLoginKey } from "./login-key.ts";

/** A request to the gateway, with both halves of the login: the browser adds the cookie itself. */
export async function request(
  path: string,
  init: Omit<RequestInit, "headers"> & { headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const headers = { ...init.headers, [LOGIN_KEY]: await readLoginKey() };
  return fetch(apiUrl(path), { ...init, headers });
}

export async function call(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<unknown> {
  let answer: Response;
  try {
    answer = await request(path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch {
    throw new GatewayError("offline", "the gateway cannot be reached");
  }
  const value: unknown = await answer.json().catch(() => ({}));
  if (answer.ok) return value;
  const told = fieldsOf(value);
  throw new GatewayError(
    textOf(told["code"]) || "internal",
    textOf(told["detail"]) || textOf(told["title"]) || `the gateway said ${answer.status}`,
    told["data"],
  );
}
