// The rows of the list: what the stream of objects has said so far, and the filters that the address asks for.
import { signal } from "@preact/signals";
import { query } from "./api.ts";
import { openStream } from "./stream.ts";
import { time } from "./format.ts";
import type { Row } from "./types.ts";

export interface Filter {
  kinds: string[];
  states: string[];
  labels: string[];
  text: string;
}

// matches says whether a row passes a filter. A label is a name, or name=value; a text matches names, reasons and
// messages.
export function matches(row: Row, f: Filter): boolean {
  if (f.kinds.length && !f.kinds.includes(row.kind)) return false;
  if (f.states.length && !f.states.includes(stateOf(row))) return false;
  for (const l of f.labels) {
    const at = l.indexOf("=");
    const value = row.labels?.[at < 0 ? l : l.slice(0, at)];
    if (value === undefined || (at >= 0 && value !== l.slice(at + 1))) return false;
  }
  if (!f.text) return true;
  const text = f.text.toLowerCase();
  return [row.name, row.namespace, row.reason, row.message, row.queue].some((s) => s?.toLowerCase().includes(text));
}

// stateOf is empty for a JobTemplate, which never runs. An object that its operator hasn't observed yet is Pending.
export const stateOf = (row: Row): string =>
  (row.deleting ? "Deleting" : row.state) || (row.kind === "JobTemplate" ? "" : "Pending");

export type Order = "name" | "kind" | "namespace" | "state" | "progress" | "age";

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const share = (r: Row) => (r.total ? (r.done ?? 0) / r.total : -1);

const orders: Record<Order, (a: Row, b: Row) => number> = {
  name: (a, b) => compare(a.name, b.name),
  kind: (a, b) => compare(a.kind, b.kind),
  namespace: (a, b) => compare(a.namespace ?? "", b.namespace ?? ""),
  state: (a, b) => compare(stateOf(a), stateOf(b)),
  progress: (a, b) => share(a) - share(b),
  age: (a, b) => (time(b.created) || 0) - (time(a.created) || 0),
};

// orderOf is the order that an address asks for, by age if it asks for none that there is.
export const orderOf = (text: string): Order => (Object.hasOwn(orders, text) ? (text as Order) : "age");

export function sorted(rows: Row[], order: Order, down: boolean): Row[] {
  const by = orders[order];
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => sign * by(a, b) || compare(a.name, b.name) || compare(a.uid, b.uid));
}

// watchObjects follows objects. However many events come, the list is made anew at most once a frame.
export function watchObjects(kinds: string[], namespaces: string[]) {
  const known = new Map<string, Row>();
  const rows = signal<Row[]>([]);
  let scheduled = false;
  const changed = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      rows.value = [...known.values()];
    });
  };
  const stream = openStream("/api/stream/objects" + query({ kind: kinds, namespace: namespaces }), {
    reset: () => known.clear(),
    synced: changed,
    set: (batch: Row[]) => {
      for (const r of batch) known.set(r.uid, r);
      changed();
    },
    gone: (uids: string[]) => {
      for (const u of uids) known.delete(u);
      changed();
    },
  });
  return { rows, stream };
}
