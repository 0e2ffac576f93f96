/** Whether this keyboard has a Command key. */
export const MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");
