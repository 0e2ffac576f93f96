import { useEffect, useState } from "react";

/** Files dropped anywhere on the page. True while some are held above it. */
export function useDrop(add: (files: Iterable<File>) => void, off: boolean): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    if (off) return undefined;
    const hasFiles = (event: DragEvent): boolean =>
      event.dataTransfer?.types.includes("Files") ?? false;
    const hold = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault(); // or the browser goes to the file
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      add(event.dataTransfer?.files ?? []);
    };
    addEventListener("dragover", hold);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", hold);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [add, off]);
  return over;
}
