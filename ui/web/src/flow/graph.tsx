// The graph's view: the canvas with its buttons, its map and its keyboard.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, now, time } from "../format.ts";
import { param, route } from "../route.ts";
import { drawStrip, frameStrip, GraphCanvas } from "./canvas.ts";
import { collapsedAtFirst } from "./layout.ts";
import { classes, timesOf, type FlowModel } from "./model.ts";
import type { FlowWatch } from "./watch.ts";

const keys =
  "Arrow keys move along it, Enter opens a node, plus and minus zoom, 0 shows all, c collapses a layer. " +
  "The table has the same nodes.";

export function GraphView({ flow, model, open }: { flow: FlowWatch; model: FlowModel; open(name: string): void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const strip = useRef<HTMLCanvasElement>(null);
  const view = useRef<GraphCanvas | undefined>(undefined);
  const frame = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const [collapsed, setCollapsed] = useState(() => collapsedAtFirst(model));
  const [said, say] = useState("");
  const [found, setFound] = useState({ list: [] as number[], at: -1 });
  const [critical, setCritical] = useState(false);
  const g = model.graph;
  const large = g.layers.length > 8 || model.n > 60;

  const toggle = (k: number) =>
    setCollapsed((c) => {
      const next = c.slice();
      next[k] = next[k] ? 0 : 1;
      return next;
    });
  const all = (to: 0 | 1) => setCollapsed(Uint8Array.from(g.layers, (l) => (to && l.count > 1 ? 1 : 0)));

  // The effects run before the next key or click comes: those that wait for a painted frame would lose one of them.
  useLayoutEffect(() => {
    const shrunk = collapsed.length === g.layers.length ? collapsed : collapsedAtFirst(model);
    if (shrunk !== collapsed) setCollapsed(shrunk);
    const v = (view.current = new GraphCanvas(canvas.current!, model, shrunk, {
      select: (i) => {
        v.selected = i;
        v.invalidate();
      },
      open: (i) => open(g.names[i]!),
      toggle,
      hover: (i, x, y) => hover(i, x, y),
      moved: (moved) => {
        if (frame.current) frameStrip(frame.current, moved);
      },
    }));
    if (strip.current) drawStrip(strip.current, v);
    performance.mark("armature-graph-painted");
    return () => v.close();
  }, [model]);

  const version = flow.version.value;
  useLayoutEffect(() => {
    const v = view.current!;
    v.invalidate();
    if (strip.current) drawStrip(strip.current, v);
  }, [version]);

  useLayoutEffect(() => {
    if (view.current && view.current.layout.collapsed !== collapsed) view.current.collapse(collapsed);
  }, [collapsed]);

  const node = param("node");
  useLayoutEffect(() => {
    const v = view.current!;
    if (node) v.selected = model.index.get(node) ?? -1; // and stays when its drawer closes: the keyboard goes on from there
    v.invalidate();
  }, [node, model]);

  const q = param("q").toLowerCase();
  useLayoutEffect(() => {
    const v = view.current!;
    const list: number[] = [];
    const match = q ? new Uint8Array(model.n) : undefined;
    if (match) {
      for (const i of g.order) {
        if (g.names[i]!.toLowerCase().includes(q)) {
          match[i] = 1;
          list.push(i);
        }
      }
    }
    v.match = match;
    v.invalidate();
    setFound({ list, at: -1 });
  }, [q, model]);

  useLayoutEffect(() => {
    const v = view.current!;
    v.critical = critical ? timesOf(model, time(flow.row.peek()?.started), now.peek()).critical : undefined;
    v.invalidate();
  }, [critical, version, model]);

  // reveal opens a node's layer, if need be, and moves there.
  const reveal = (i: number) => {
    const v = view.current!;
    const k = g.layer[i]!;
    if (v.layout.collapsed[k]) {
      const next = collapsed.slice();
      next[k] = 0;
      v.collapse(next);
      setCollapsed(next);
    }
    v.selected = i;
    v.showNode(i);
    say(`${g.names[i]}, ${model.nodes[i]?.state ?? "Pending"}, layer ${k + 1}`);
  };
  const step = (by: number) => {
    if (!found.list.length) return;
    const at = found.at < 0 && by < 0 ? found.list.length - 1 : (found.at + by + found.list.length) % found.list.length;
    setFound({ ...found, at });
    reveal(found.list[at]!);
  };
  useLayoutEffect(() => {
    const key = (e: KeyboardEvent) => {
      const search = document.querySelector<HTMLInputElement>("[data-search]");
      if (e.target === search && e.key === "Enter") step(e.shiftKey ? -1 : 1);
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });

  const hover = (i: number, x: number, y: number) => {
    const el = tip.current!;
    el.hidden = i < 0;
    if (i < 0) return;
    const n = model.nodes[i];
    el.textContent = [g.names[i], n?.state ?? "Pending", n?.message, g.when?.[i] && `when ${g.when[i]}`]
      .filter(Boolean)
      .join("\n");
    el.style.transform = `translate(${Math.min(x + 14, view.current!.width - 260)}px, ${y + 16}px)`;
  };

  const key = (e: KeyboardEvent) => {
    const v = view.current!;
    const pans: Record<string, [number, number]> = {
      ArrowLeft: [80, 0],
      ArrowRight: [-80, 0],
      ArrowUp: [0, 80],
      ArrowDown: [0, -80],
    };
    if (e.key in pans && e.shiftKey) v.pan(...pans[e.key]!);
    else if (e.key in pans) {
      const i = v.next(v.selected, e.key);
      if (i >= 0) reveal(i);
    } else if (e.key === "Enter" && v.selected >= 0) open(g.names[v.selected]!);
    else if (e.key === "+" || e.key === "=") v.zoom(1.25);
    else if (e.key === "-") v.zoom(0.8);
    else if (e.key === "0") v.fit();
    else if (e.key === "c" && v.selected >= 0) toggle(g.layer[v.selected]!);
    else return;
    e.preventDefault();
  };

  const jump = (e: MouseEvent) => {
    const box = strip.current!.getBoundingClientRect();
    view.current!.showLayer(Math.floor(((e.clientX - box.left) / box.width) * g.layers.length));
  };
  void route.value;
  const someCollapsed = collapsed.some((c) => c);
  return (
    <div class="graph">
      {large && (
        <div class="strip" onClick={jump} title="All layers. Click to go there.">
          <canvas ref={strip} role="img" aria-label={`Map of ${count(g.layers.length)} layers`} />
          <div ref={frame} class="strip-frame" />
        </div>
      )}
      <div class="canvas-box">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          onKeyDown={key}
          aria-label={`Graph of ${count(model.n)} nodes in ${count(g.layers.length)} layers. ${keys}`}
        />
        <div ref={tip} class="tip" hidden />
        <div class="tools" role="group" aria-label="Graph">
          <button aria-label="Zoom in" onClick={() => view.current!.zoom(1.3)}>
            +
          </button>
          <button aria-label="Zoom out" onClick={() => view.current!.zoom(1 / 1.3)}>
            −
          </button>
          <button onClick={() => view.current!.fit()}>Fit</button>
          {model.n > 1 && (
            <button aria-pressed={critical} onClick={() => setCritical(!critical)}>
              Critical path
            </button>
          )}
          {g.layers.some((l) => l.count > 1) && (
            <button data-collapse onClick={() => all(someCollapsed ? 0 : 1)}>
              {someCollapsed ? "Open all layers" : "Collapse layers"}
            </button>
          )}
          {q && (
            <span class="found" role="status">
              <button aria-label="Previous match" onClick={() => step(-1)}>
                ‹
              </button>
              {found.at >= 0 ? `${found.at + 1} of ` : ""}
              {count(found.list.length)}
              <button aria-label="Next match" onClick={() => step(1)}>
                ›
              </button>
            </span>
          )}
        </div>
        <ul class="legend" aria-label="Colours">
          {classes.map((c) => (
            <li key={c}>
              <i class={`dot ${c}`} />
              {c}
            </li>
          ))}
        </ul>
      </div>
      <p class="sr" role="status" aria-live="polite">
        {said}
      </p>
    </div>
  );
}
