/**
 * What has to be worked out before somebody sees what is asked. Of a very long input that takes so
 * long that it is done in steps, before anything of it is drawn: the page is never stuck meanwhile.
 */
import { type Preview, previewOf, previewOfSubject } from "../diff/preview.ts";
import { workOut } from "../diff/worked-out.ts";
import type { Prompt } from "../store/items.ts";
import { mixed, textsIn } from "./exact.ts";

/** Letters of an input that is drawn in the frame it comes in. */
const SHORT = 30_000;

/** Work to be done first; undefined: there is not much of it. */
export function stepsOf(prompt: Prompt): Iterator<undefined> | undefined {
  const letters = textsIn(prompt.input).reduce((sum, one) => sum + one.length, 0);
  return letters > SHORT ? steps(prompt) : undefined;
}

function* steps(prompt: Prompt): Generator<undefined, void> {
  strangeIn(prompt);
  yield;
  const preview = previewIn(prompt);
  yield;
  if (preview !== null) yield* workOut(preview.hunks);
}

/** The change it asks for; null: it is no change, or none that we know. */
export const previewIn = once((prompt): Preview | null => previewOf(prompt.tool, prompt.input));

/** The change as the agent's driver describes it: the input beside it may say more. */
export const describedIn = once((prompt): Preview | null => previewOfSubject(prompt.subject));

/** Words in it that may not be what they look like. */
export const strangeIn = once((prompt) => mixed(textsIn(prompt.input).join("\n")));

/** What is found about a prompt goes with it. */
function once<T>(find: (prompt: Prompt) => T): (prompt: Prompt) => T {
  const found = new WeakMap<Prompt, { readonly value: T }>();
  return (prompt) => {
    const known = found.get(prompt) ?? { value: find(prompt) };
    found.set(prompt, known);
    return known.value;
  };
}
