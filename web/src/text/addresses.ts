/** Which addresses of an agent's text may be followed or loaded. */

const LINK = /^(?:https?:\/\/|mailto:)[^\s]+$/i;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;
const LONGEST = 8192;

/** The address of a link that may be offered, or nothing. */
export function safeLink(href: string): string {
  const said = href.trim();
  return said.length <= LONGEST && LINK.test(said) ? said : "";
}

/** The address of a picture that the page may load without asking anybody else, or nothing. */
export function safePicture(src: string): string {
  const said = src.trim();
  if (PICTURE.test(said)) return said;
  if (said.length > LONGEST || /[\s\\]/.test(said)) return "";
  return /^blob:/i.test(said) || /^\/(?!\/)/.test(said) || sameOrigin(said) ? said : "";
}

function sameOrigin(address: string): boolean {
  const here = globalThis.location?.origin;
  return here !== undefined && here !== "null" && address.startsWith(`${here}/`);
}
