// How times and numbers are written.
import { signal } from "@preact/signals";
import type { Tone } from "./types.ts";

// now is the time, each second, of what counts it: ages, durations, the end of a running bar.
export const now = signal(Date.now());
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);

export const time = (t?: string): number => (t ? Date.parse(t) : NaN);

// span writes milliseconds as people say them: 8s, 3m12s, 4h05m, 6d.
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s}s`;
  if (s < 3600) return s < 600 ? `${Math.floor(s / 60)}m${pad(s % 60)}s` : `${Math.floor(s / 60)}m`;
  if (s < 86400) return `${Math.floor(s / 3600)}h${pad(Math.floor((s % 3600) / 60))}m`;
  return `${Math.floor(s / 86400)}d${s < 864000 ? pad(Math.floor((s % 86400) / 3600)) + "h" : ""}`;
}

const pad = (n: number) => String(n).padStart(2, "0");

export const since = (t?: string): string => span(now.value - time(t));

export function duration(started?: string, ended?: string): string {
  if (!started) return "";
  return span((ended ? time(ended) : now.value) - time(started));
}

export function clock(t?: string): string {
  return t ? new Date(t).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) : "";
}

export const count = (n: number): string => n.toLocaleString("en-US");

export const plural = (n: number, one: string, many = one + "s"): string => `${count(n)} ${n === 1 ? one : many}`;

export const toneOf = (t?: Tone): Tone => t ?? "quiet";

export const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);
