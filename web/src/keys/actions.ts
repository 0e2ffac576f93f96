/** Everything a key or the palette can do, by a name that settings keep. */
export interface Action {
  readonly id: string;
  readonly title: string;
  /** The usual keys; "": only in the palette. */
  readonly keys: string;
  readonly where: "everywhere" | "session" | "composer" | "prompt";
  /** Works while somebody types: it cannot be mistaken for text. */
  readonly typing: boolean;
}

function action(
  id: string,
  title: string,
  keys: string,
  where: Action["where"] = "everywhere",
  typing = true,
): Action {
  return { id, title, keys, where, typing };
}

export const ACTIONS: readonly Action[] = [
  action("palette", "Commands", "Mod+/"),
  action("board", "All sessions", "Alt+B"),
  action("next-waiting", "Next session that needs you", "Alt+N"),
  action("new-session", "New session", "Alt+S"),
  action("history", "Conversations on this machine", ""),
  action("settings", "Settings", "Mod+,"),
  action("help", "Help", "?", "everywhere", false),
  action("keys", "Keys", ""),
  action("access", "Logins, tokens and the audit log", ""),
  action("devices", "Devices", ""),
  action("resync", "Connect anew", ""),
  action("theme", "Change the theme", ""),
  action("composer", "Write a message", "Alt+C", "session"),
  action("prompt", "Go to the prompt", "Alt+P", "session"),
  action("inspector", "Inspector", "Alt+I", "session"),
  action("clear", "Clear the view", "Mod+K", "session"),
  action("toggle-tools", "Open or fold all tools", "Alt+O", "session"),
  action("previous-turn", "Previous message of yours", "Alt+ArrowUp", "session"),
  action("next-turn", "Next message of yours", "Alt+ArrowDown", "session"),
  action("latest", "Latest", "Alt+End", "session"),
  action("interrupt", "Interrupt the turn", "", "session"),
  action("rename", "Rename this session", "", "session"),
  action("export", "Export this session", "", "session"),
  action("send", "Send", "Enter", "composer"),
  action("new-line", "New line", "Shift+Enter", "composer"),
  action("recall", "Your last message again, in an empty composer", "ArrowUp", "composer"),
  action("allow", "Allow once", "Y", "prompt", false),
  action("deny", "Deny", "N", "prompt", false),
  action("always", "Allow always", "A", "prompt", false),
  action("edit", "Change the input", "E", "prompt", false),
  action("cancel", "Close, clear, deny or interrupt: whatever is first", "Escape"),
];

/** These belong to the browser or to the system. */
const TAKEN = new Set([
  "Mod+C",
  "Mod+V",
  "Mod+X",
  "Mod+A",
  "Mod+Z",
  "Mod+T",
  "Mod+W",
  "Mod+N",
  "Mod+R",
  "Tab",
]);

export type Chosen = Readonly<Record<string, string>>;

/** The keys of an action: those that were chosen, or the usual ones. */
export function keysOf(id: string, chosen: Chosen): string {
  return chosen[id] ?? ACTIONS.find((one) => one.id === id)?.keys ?? "";
}

/** Why these keys cannot be chosen; "": they can. */
export function refused(id: string, keys: string, chosen: Chosen): string {
  if (TAKEN.has(keys)) return "The browser needs these keys.";
  const mine = ACTIONS.find((one) => one.id === id);
  if (
    mine !== undefined &&
    mine.typing &&
    mine.where !== "composer" &&
    /^(?:Shift\+)?.$/.test(keys)
  ) {
    return "This is a letter: add Alt or Control to it.";
  }
  const other = ACTIONS.find(
    (one) =>
      one.id !== id &&
      mine !== undefined &&
      meet(one.where, mine.where) &&
      keysOf(one.id, chosen) === keys,
  );
  return other === undefined ? "" : `These are the keys of "${other.title}".`;
}

/** Whether both are listened for at once. */
function meet(a: Action["where"], b: Action["where"]): boolean {
  const everywhere = (one: Action["where"]): boolean => one === "everywhere" || one === "session";
  return a === b || (everywhere(a) && everywhere(b));
}

/** What a press means here; composer and prompt see to their own. */
export function actionFor(
  keys: string,
  chosen: Chosen,
  now: { readonly session: boolean; readonly typing: boolean },
): Action | undefined {
  if (keys === "") return undefined;
  return ACTIONS.find(
    (one) =>
      (one.where === "everywhere" || (one.where === "session" && now.session)) &&
      one.id !== "cancel" &&
      (one.typing || !now.typing) &&
      keysOf(one.id, chosen) === keys,
  );
}
