/** Brings a person to the prompt they were told of, as soon as it is on the screen. */
const TRIES = 40;
const EVERY_MS = 50;

export function focusPrompt(prompt: string, tries: number = TRIES): void {
  const all = document.querySelectorAll<HTMLElement>("[data-prompt]");
  const wanted = [...all].find((one) => one.dataset["prompt"] === prompt);
  // another prompt of that session may be in front of it: after a while that one will do
  const found = wanted ?? (tries < TRIES / 2 ? all[0] : undefined);
  if (found !== undefined) {
    found.focus();
    found.scrollIntoView({ block: "nearest" });
  } else if (tries > 0) {
    setTimeout(() => focusPrompt(prompt, tries - 1), EVERY_MS);
  }
}
