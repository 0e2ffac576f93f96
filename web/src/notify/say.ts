/** What is read out to people who do not look: boundaries only, never the words of a stream. */
export type Urgency = "polite" | "assertive";

type Listener = (text: string, urgency: Urgency) => void;

const listeners = new Set<Listener>();

export function say(text: string, urgency: Urgency = "polite"): void {
  for (const one of [...listeners]) one(text, urgency);
}

export function onSay(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
