/** The gateway's HTTP interface, for what is not asked over the socket. */
import { fieldsOf, textOf } from "../store/values.ts";
import { apiUrl } from "./base.ts";
import { GatewayError } from "./errors.ts";

export async function call(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(apiUrl(path), {
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
