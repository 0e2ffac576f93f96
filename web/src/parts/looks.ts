/** Theme and density are the page's own; the gateway writes the theme into the next page it sends. */

import { useEffect } from "react";
import { basePath } from "../link/base.ts";
import { useMedia } from "./use-media.ts";
import { useSettings } from "./use-store.ts";

export function useLooks(): void {
  const { theme, contrast, density } = useSettings();
  const dark = useMedia("(prefers-color-scheme: dark)");
  useEffect(() => {
    const { dataset } = document.documentElement;
    dataset["theme"] = theme === "system" ? "" : theme;
    dataset["contrast"] = contrast;
    dataset["density"] = density;
    const kept = theme === "system" ? "max-age=0" : "max-age=31536000";
    document.cookie = `flybridge-theme=${theme}; path=${basePath() || "/"}; ${kept}; samesite=strict`;
  }, [theme, contrast, density]);
  useEffect(paintFrame, [theme, contrast, dark]);
}

/** What a phone draws around the page has its colour. */
function paintFrame(): void {
  const ground = getComputedStyle(document.body).backgroundColor;
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", ground);
}
