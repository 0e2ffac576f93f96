/** Figures as people say them. */
export function duration(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** A time that still grows: it changes once a second, and nothing moves in between. */
export function elapsed(ms: number): string {
  const s = Math.floor(Math.max(0, ms) / 1000);
  return s < 60 ? `${s} s` : duration(s * 1000);
}

export function money(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(0)} KiB`;
  return `${(size / (1024 * 1024)).toFixed(1)} MiB`;
}

/** How long ago, in the words of a list. */
export function ago(atMs: number, nowMs: number): string {
  const s = Math.max(0, nowMs - atMs) / 1000;
  if (s < 60) return "now";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86_400)} d`;
}

/** A time of day; of another day than the one it is said on, with that day. */
export function clock(atMs: number, saidMs: number): string {
  const at = new Date(atMs);
  const time = at.toLocaleTimeString([], { timeStyle: "short" });
  if (at.toDateString() === new Date(saidMs).toDateString()) return time;
  return `${at.toLocaleDateString([], { weekday: "short", day: "numeric", month: "short" })}, ${time}`;
}
