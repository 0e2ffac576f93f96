// What Lighthouse says of pages in a browser that listens on a port, as JSON: an object for each.
//
//   node rate.mjs <port> <address>...
//
// The browser is the caller's, and so are the cookies in it.
import lighthouse, { desktopConfig } from "lighthouse";

const CATEGORIES = ["performance", "accessibility", "best-practices"];
const [port, ...addresses] = process.argv.slice(2);

/** The audits that cost a category some of its points, with what they found. */
function lost({ categories, audits }) {
  const refs = Object.values(categories).flatMap((one) => one.auditRefs);
  return refs
    .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 1)
    .map(({ id }) => {
      const { title, displayValue = "", details } = audits[id];
      const found = (details?.items ?? []).slice(0, 3).map((one) => JSON.stringify(one));
      return [`${id}: ${title} ${displayValue}`.trim(), ...found.map((one) => one.slice(0, 300))];
    });
}

/** Its own words for a trace that it lost are "please run Lighthouse again": so it is, once. */
async function rate(address, tries = 2) {
  const flags = { port: Number(port), onlyCategories: CATEGORIES, output: "json" };
  const { lhr } = await lighthouse(address, flags, desktopConfig);
  if (lhr.runtimeError === undefined) return lhr;
  if (tries > 1) return rate(address, tries - 1);
  throw new Error(`${address}: ${lhr.runtimeError.message}`);
}

const said = [];
for (const address of addresses) {
  const lhr = await rate(address);
  const scores = Object.fromEntries(
    CATEGORIES.map((one) => [one, Math.round((lhr.categories[one].score ?? 0) * 100)]),
  );
  said.push({ address: new URL(address).pathname, scores, lost: lost(lhr) });
}
process.stdout.write(JSON.stringify(said));
