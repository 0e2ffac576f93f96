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

export function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : "internal";
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
