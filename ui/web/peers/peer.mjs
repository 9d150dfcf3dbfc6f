// Draws the same flow as the page does, by what others use: a layout by dagre (as Argo's page) or by elkjs, and SVG
// elements for every node and edge.
// It is for docs/benchmarks.md alone, and no part of the page.
import dagre from "dagre";
import ELK from "elkjs/lib/elk.bundled.js";

async function layout(by, g) {
  const size = { width: g.nodeWidth, height: g.nodeHeight };
  if (by === "dagre") {
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "LR" });
    graph.setDefaultEdgeLabel(() => ({}));
    g.names.forEach((_, i) => graph.setNode(String(i), { ...size }));
    for (let e = 0; e < g.edges.length; e += 2) graph.setEdge(String(g.edges[e]), String(g.edges[e + 1]));
    dagre.layout(graph);
    return {
      nodes: g.names.map((_, i) => {
        const n = graph.node(String(i));
        return { x: n.x - size.width / 2, y: n.y - size.height / 2 };
      }),
      edges: graph.edges().map((e) => graph.edge(e).points),
    };
  }
  const edges = [];
  for (let e = 0; e < g.edges.length; e += 2)
    edges.push({ id: "e" + e, sources: ["n" + g.edges[e]], targets: ["n" + g.edges[e + 1]] });
  const done = await new ELK().layout({
    id: "root",
    layoutOptions: { "elk.algorithm": "layered", "elk.direction": "RIGHT" },
    edges,
    children: g.names.map((_, i) => ({ id: "n" + i, ...size })),
  });
  return {
    nodes: done.children,
    edges: done.edges.map((e) => {
      const s = e.sections[0];
      return [s.startPoint, ...(s.bendPoints ?? []), s.endPoint];
    }),
  };
}

const svg = (name, attributes) => {
  const el = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
  return el;
};

const by = new URLSearchParams(location.search).get("by");
const g = await (await fetch("/api/peer-graph")).json();
const began = performance.now();
const placed = await layout(by, g);
performance.measure("layout", { start: began });
const root = svg("svg", { width: innerWidth, height: innerHeight }),
  group = svg("g", {});
for (const points of placed.edges) {
  group.append(svg("path", { d: "M" + points.map((p) => `${p.x},${p.y}`).join("L"), fill: "none", stroke: "#b4bdc9" }));
}
placed.nodes.forEach((n, i) => {
  group.append(
    svg("rect", { x: n.x, y: n.y, width: g.nodeWidth, height: g.nodeHeight, fill: "#e5f4ea", stroke: "#2b8a4b" }),
  );
  const text = svg("text", { x: n.x + 12, y: n.y + 22, "font-size": 12 });
  text.textContent = g.names[i];
  group.append(text);
});
root.append(group);
document.body.append(root);
let x = 0,
  y = 0,
  last;
root.addEventListener("pointerdown", (e) => {
  last = e;
});
root.addEventListener("pointerup", () => {
  last = undefined;
});
root.addEventListener("pointermove", (e) => {
  if (!last) return;
  x += e.clientX - last.clientX;
  y += e.clientY - last.clientY;
  last = e;
  group.setAttribute("transform", `translate(${x} ${y})`);
});
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("peer-painted")));
