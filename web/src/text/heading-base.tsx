/** Which heading of the page the first heading of a text is. */

import { createContext } from "react";

/** 2: the text stands right below the page's h1. */
export const HeadingBase = createContext(2);
