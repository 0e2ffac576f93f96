/** Letters for texts that are made up, and the ones that act among them more often than by chance. */
import * as fc from "fast-check";

const SURROGATES = 0x800;
const acting = [0x202e, 0x2066, 0x200b, 0xfeff, 0x7f, 0x85, 0x9b].map((one) =>
  String.fromCodePoint(one),
);

/** Any code point but the halves of a pair. */
const any = fc
  .integer({ min: 0, max: 0x10_ffff - SURROGATES })
  .map((one) => String.fromCodePoint(one < 0xd800 ? one : one + SURROGATES));

/** As `unit` of a string: fast-check's own "binary" takes most of a second to set up. */
export const letters = fc.oneof(
  any,
  fc.integer({ min: 0, max: 0xff }).map((one) => String.fromCharCode(one)),
  fc.constantFrom(...acting),
);
