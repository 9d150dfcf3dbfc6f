// A flow as the page knows it: the graph's columns, each node's state, and what is computed of them. Everything is an array by a node's index, so
// that 10,000 nodes take little memory and a change costs one entry.
import type { FlowNode, Graph } from "../types.ts";
import { time } from "../format.ts";

// The classes of states, in the order in which bars stack them.
export const classes = ["failed", "running", "waiting", "succeeded", "skipped", "pending"] as const;
export const Failed = 0, Running = 1, Waiting = 2, Succeeded = 3, Skipped = 4, Pending = 5;

export function classOf(n: FlowNode | undefined): number {
  if (!n) return Pending;
  if (n.state === "Skipped") return Skipped;
  switch (n.tone) {
    case "bad": return Failed;
    case "run": return Running;
    case "wait": return Waiting;
    case "good": return Succeeded;
    default: return Pending;
  }
}

export const finallyFlag = 1, forEachFlag = 2, allowFailureFlag = 4, whenFlag = 8, missingFlag = 16;

// Adjacent has the neighbours of node i in list[first[i]:first[i+1]].
export interface Adjacent {
  first: Int32Array;
  list: Int32Array;
}

export class FlowModel {
  readonly n: number;
  readonly nodes: (FlowNode | undefined)[];
  readonly classes: Uint8Array;
  // counts has, for each layer, the number of nodes of each class.
  readonly counts: Int32Array;
  readonly index: Map<string, number>;
  private edgesIn?: Adjacent;
  private edgesOut?: Adjacent;

  constructor(readonly graph: Graph) {
    this.n = graph.names.length;
    this.nodes = new Array(this.n);
    this.classes = new Uint8Array(this.n).fill(Pending);
    this.counts = new Int32Array(graph.layers.length * classes.length);
    this.index = new Map(graph.names.map((name, i) => [name, i]));
    for (const layer of graph.layer) this.counts[layer * classes.length + Pending]!++;
  }

  set(node: FlowNode) {
    const { i } = node;
    if (i < 0 || i >= this.n) return;
    const row = this.graph.layer[i]! * classes.length;
    this.counts[row + this.classes[i]!]!--;
    this.nodes[i] = node;
    this.classes[i] = classOf(node);
    this.counts[row + this.classes[i]!]!++;
  }

  // clear makes all nodes Pending.
  clear() {
    this.nodes.fill(undefined);
    this.classes.fill(Pending);
    this.counts.fill(0);
    for (const layer of this.graph.layer) this.counts[layer * classes.length + Pending]!++;
  }

  get dependencies(): Adjacent { return (this.edgesIn ??= adjacent(this.n, this.graph.edges, 1, 0)); }
  get dependents(): Adjacent { return (this.edgesOut ??= adjacent(this.n, this.graph.edges, 0, 1)); }
}

function adjacent(n: number, edges: number[], at: number, other: number): Adjacent {
  const first = new Int32Array(n + 1);
  for (let e = 0; e < edges.length; e += 2) first[edges[e + at]! + 1]!++;
  for (let i = 0; i < n; i++) first[i + 1]! += first[i]!;
  const next = first.slice();
  const list = new Int32Array(edges.length / 2);
  for (let e = 0; e < edges.length; e += 2) list[next[edges[e + at]!]!++] = edges[e + other]!;
  return { first, list };
}

// Times are when nodes became ready to start, started and ended, in milliseconds; NaN if they haven't.
export interface Times {
  ready: Float64Array;
  started: Float64Array;
  ended: Float64Array;
  from: number;
  to: number;
  critical: Uint8Array;
  criticalMs: number;
}

// timesOf computes waiting times and the critical path: from the node that ended last (or still runs) back along the dependency that ended last.
// It costs O(nodes + edges).
export function timesOf(m: FlowModel, flowStarted: number, at: number): Times {
  const { n, dependencies: d } = m;
  const ready = new Float64Array(n), started = new Float64Array(n), ended = new Float64Array(n);
  let from = Number.isNaN(flowStarted) ? Infinity : flowStarted;
  let to = -Infinity;
  let last = -1;
  for (let i = 0; i < n; i++) {
    started[i] = time(m.nodes[i]?.started);
    ended[i] = time(m.nodes[i]?.ended);
    if (started[i]! < from) from = started[i]!;
    if (Number.isNaN(started[i]!)) continue;
    const end = Number.isNaN(ended[i]!) ? at : ended[i]!;
    if (end > to) { to = end; last = i; }
  }
  if (from === Infinity) from = at;
  if (to < from) to = Math.max(at, from + 1000);
  // What finally waits for: all other nodes. A node that was skipped has no end, and nothing waits for it.
  const over = (j: number) => (m.classes[j] === Skipped ? from : ended[j]!);
  let allOver = from, lastOther = -1;
  for (let i = 0; i < n; i++) {
    if (m.graph.flags[i]! & (finallyFlag | missingFlag)) continue;
    const end = over(i);
    if (Number.isNaN(end)) { allOver = NaN; break; }
    if (end > allOver) allOver = end;
    if (!Number.isNaN(started[i]!) && (lastOther < 0 || end > ended[lastOther]!)) lastOther = i;
  }
  for (let i = 0; i < n; i++) {
    let r = m.graph.flags[i]! & finallyFlag ? allOver : from;
    for (let k = d.first[i]!; k < d.first[i + 1]!; k++) {
      const end = over(d.list[k]!);
      if (Number.isNaN(end)) { r = NaN; break; }
      if (end > r) r = end;
    }
    ready[i] = r;
  }
  const critical = new Uint8Array(n);
  const end = to;
  let start = to;
  for (let i = last; i >= 0 && !critical[i];) {
    critical[i] = 1;
    start = started[i]!;
    let before = m.graph.flags[i]! & finallyFlag ? lastOther : -1;
    for (let k = d.first[i]!; k < d.first[i + 1]!; k++) {
      const j = d.list[k]!;
      if (!Number.isNaN(ended[j]!) && !Number.isNaN(started[j]!) && (before < 0 || ended[j]! > ended[before]!)) before = j;
    }
    i = before;
  }
  return { ready, started, ended, from, to, critical, criticalMs: last < 0 ? 0 : end - start };
}
