/** Who has the focus when nobody has it: the whole view, so that Tab goes on inside of it. */
function view(): HTMLElement | null {
  return document.getElementById("main");
}

export function nobodyHasFocus(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement === view();
}

/** What had the focus is gone: the next Tab begins in the view and not at the top of the page. */
export function focusView(): void {
  if (nobodyHasFocus()) view()?.focus({ preventScroll: true });
}
