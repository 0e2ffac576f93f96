/** The page's one trusted-types policy. It blesses addresses of our own workers and nothing else. */

interface Policy {
  createScriptURL(address: string): unknown;
}

interface Factory {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): Policy;
}

const NAME = "gateway";
let policy: Policy | null = null;

/** The address of a worker of this build, in the form the browser asks for. */
export function workerAddress(address: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  if (trustedTypes === undefined) return ours(address);
  policy ??= trustedTypes.createPolicy(NAME, { createScriptURL: ours });
  return policy.createScriptURL(address) as string;
}

function ours(address: string): string {
  const { origin, href } = globalThis.location;
  if (new URL(address, href).origin !== origin) throw new TypeError(`not ours: ${address}`);
  return address;
}
