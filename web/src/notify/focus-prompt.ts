/** Brings a person to the prompt they were told of, as soon as it is on the screen. */
const TRIES = 40;
const EVERY_MS = 50;

export function focusPrompt(prompt: string, tries: number = TRIES): void {
  const found =
    document.querySelector<HTMLElement>(`[data-prompt="${CSS.escape(prompt)}"]`) ??
    (tries < TRIES / 2 ? document.querySelector<HTMLElement>("[data-dock]") : null);
  if (found !== null) {
    if (found.tabIndex < 0) found.tabIndex = -1;
    found.focus();
    found.scrollIntoView({ block: "nearest" });
  } else if (tries > 0) {
    setTimeout(() => focusPrompt(prompt, tries - 1), EVERY_MS);
  }
}
