/** A button that copies a text, and says so. */

import { useEffect, useState } from "react";
import style from "./copy.module.css";

export interface CopyButtonProps {
  /** What is copied; a function is asked only when the button is pressed. */
  readonly text: string | (() => string | Promise<string>);
  /** What it copies, for those who hear it: "Copy code". */
  readonly label: string;
}

type Told = "" | "Copied" | "Not copied";
const SHOWN_MS = 1500;

export function CopyButton({ text, label }: CopyButtonProps) {
  const [told, setTold] = useState<Told>("");
  useEffect(() => {
    if (told === "") return undefined;
    const timer = setTimeout(() => setTold(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async (): Promise<void> => {
    const said = await Promise.resolve(typeof text === "string" ? text : text()).catch(() => null);
    const done = said !== null && (await copyText(said));
    setTold(done ? "Copied" : "Not copied");
  };
  return (
    <button
      type="button"
      className={style.copy}
      aria-label={told || label}
      onClick={() => void copy()}
    >
      {told || "Copy"}
    </button>
  );
}

/** The clipboard exists only in secure contexts; a gateway on the home network is none. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  field.className = style.field ?? "";
  field.setAttribute("aria-hidden", "true");
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}
