import { own } from "../store/values.ts";

/** A refusal by the gateway: a stable code, and words for a person. */
export class GatewayError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly detail?: unknown,
  ) {
    super(message || code);
    this.name = "GatewayError";
  }
}

/** What one person said must not be said again by another one: it would count as theirs. */
export function anotherLogin(left: boolean): GatewayError {
  const words = left
    ? "It was sent under another login, and may have arrived."
    : "It was written under another login.";
  return new GatewayError("another_login", words);
}

export function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : "internal";
}

/** Codes that say more to a person than the gateway's own words do. */
const WORDS: Readonly<Record<string, string>> = {
  not_allowed: "This login has no right to do that.",
  offline: "There is no connection to the gateway.",
  refused_by_agent: "The agent refused it.",
  timeout: "The gateway did not answer in time.",
};

export function wordsOf(error: unknown): string {
  const known = own(WORDS, codeOf(error));
  if (known !== undefined) return known;
  return error instanceof Error ? error.message : String(error);
}
