// Where things are drawn: the server's positions, except that a collapsed layer is one box. It is made anew when a layer collapses or opens, in
// O(nodes + edges), and never while panning.
import type { FlowModel } from "./model.ts";

export interface Layout {
  x: Float32Array;
  y: Float32Array;
  height: Float32Array;
  collapsed: Uint8Array;
  // The edges that are drawn, four numbers each: from the right of one box to the left of another. edgeFrom and edgeTo are nodes.
  edges: Float32Array;
  edgeFrom: Int32Array;
  edgeTo: Int32Array;
  // bands join layers where there are too many edges to draw each: x1, top1, bottom1, x2, top2, bottom2, number of edges.
  bands: Float32Array;
  // columns are those of the open layers, from left to right: the server gives a layer of many nodes several.
  columns: Column[];
  // left and span, top and bottom of each layer.
  left: Float32Array;
  span: Float32Array;
  top: Float32Array;
  bottom: Float32Array;
  bounds: { x: number; y: number; width: number; height: number };
}

export interface Column {
  first: number;
  count: number;
  x: number;
}

export const boxHeight = 116;

export function layoutOf(m: FlowModel, collapsed: Uint8Array): Layout {
  const { graph: g, n } = m;
  const x = Float32Array.from(g.x), y = Float32Array.from(g.y), height = new Float32Array(n).fill(g.nodeHeight);
  let low = Infinity, tall = -Infinity;
  for (let i = 0; i < n; i++) {
    if (collapsed[g.layer[i]!]) continue;
    if (y[i]! < low) low = y[i]!;
    if (y[i]! + g.nodeHeight > tall) tall = y[i]! + g.nodeHeight;
  }
  const middle = low < tall ? (low + tall) / 2 : 0;
  const top = new Float32Array(g.layers.length), bottom = new Float32Array(g.layers.length);
  const left = new Float32Array(g.layers.length), span = new Float32Array(g.layers.length);
  const columns: Column[] = [];
  let right = 0;
  g.layers.forEach((l, k) => {
    // A collapsed layer is one box wide, and what is behind it moves to the left.
    let high = l.x + g.nodeWidth;
    for (let o = l.first; o < l.first + l.count; o++) high = Math.max(high, g.x[g.order[o]!]! + g.nodeWidth);
    left[k] = k === 0 ? 0 : right + (g.layers[k]!.x - before(g, k));
    span[k] = collapsed[k] ? g.nodeWidth : high - l.x;
    right = left[k]! + span[k]!;
    top[k] = Infinity;
    bottom[k] = -Infinity;
    for (let o = l.first; o < l.first + l.count; o++) {
      const i = g.order[o]!;
      if (collapsed[k]) {
        x[i] = left[k]!;
        y[i] = middle - boxHeight / 2;
        height[i] = boxHeight;
      } else {
        x[i] = left[k]! + g.x[i]! - l.x;
        const column = columns[columns.length - 1];
        if (o > l.first && column && column.x === x[i]) column.count++;
        else columns.push({ first: o, count: 1, x: x[i]! });
      }
      if (y[i]! < top[k]!) top[k] = y[i]!;
      if (y[i]! + height[i]! > bottom[k]!) bottom[k] = y[i]! + height[i]!;
    }
    if (collapsed[k]) {
      low = Math.min(low, top[k]!);
      tall = Math.max(tall, bottom[k]!);
    }
  });

  const seen = new Set<number>();
  const edges: number[] = [], from: number[] = [], to: number[] = [];
  const pairs = new Map<number, number>();
  const layers = g.layers.length;
  for (let e = 0; e < g.edges.length; e += 2) {
    const a = g.edges[e]!, b = g.edges[e + 1]!;
    const la = g.layer[a]!, lb = g.layer[b]!;
    pairs.set(la * layers + lb, (pairs.get(la * layers + lb) ?? 0) + 1);
    if (collapsed[la] || collapsed[lb]) {
      // All edges into or out of a box that start or end together are one.
      const u = collapsed[la] ? n + la : a, v = collapsed[lb] ? n + lb : b;
      const key = u * (n + layers) + v;
      if (seen.has(key)) continue;
      seen.add(key);
    }
    edges.push(x[a]! + g.nodeWidth, y[a]! + height[a]! / 2, x[b]!, y[b]! + height[b]! / 2);
    from.push(a);
    to.push(b);
  }
  const bands: number[] = [];
  for (const [key, number] of pairs) {
    const a = Math.floor(key / layers), b = key % layers;
    bands.push(left[a]! + span[a]!, top[a]!, bottom[a]!, left[b]!, top[b]!, bottom[b]!, number);
  }
  return {
    x, y, height, collapsed, columns, left, span, top, bottom,
    edges: Float32Array.from(edges), edgeFrom: Int32Array.from(from), edgeTo: Int32Array.from(to), bands: Float32Array.from(bands),
    bounds: { x: 0, y: Number.isFinite(low) ? low : 0, width: right || 1, height: low < tall ? tall - low : 1 },
  };
}

// before is the right end of the layer before layer k, where the server has it.
function before(g: FlowModel["graph"], k: number): number {
  const l = g.layers[k - 1]!;
  let right = l.x + g.nodeWidth;
  for (let o = l.first; o < l.first + l.count; o++) right = Math.max(right, g.x[g.order[o]!]! + g.nodeWidth);
  return right;
}

// collapsedAtFirst collapses wide layers of a large flow: numbers come before pictures.
export function collapsedAtFirst(m: FlowModel): Uint8Array {
  const large = m.n > 1000;
  return Uint8Array.from(m.graph.layers, (l) => (large && l.count > 40 ? 1 : 0));
}
