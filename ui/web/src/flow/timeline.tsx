// A flow in time: each node's waiting time (from the end of its last dependency to its start) and its run, and the critical path: the chain of nodes
// that made the flow last as long as it did.
import { useMemo, useState } from "preact/hooks";
import { now, span, time } from "../format.ts";
import { param } from "../route.ts";
import { phone } from "../phone.ts";
import { Grid } from "../parts/virtual.tsx";
import { classes, Pending, timesOf, type FlowModel } from "./model.ts";
import type { FlowWatch } from "./watch.ts";

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

function ticks(total: number): number[] {
  const step = 1000 * (steps.find((s) => total / (s * 1000) <= (phone.value ? 3 : 9)) ?? 2592000);
  const list = [];
  for (let t = 0; t <= total; t += step) list.push(t);
  return list;
}

export function Timeline({ flow, model, open }: { flow: FlowWatch; model: FlowModel; open(name: string): void }) {
  const [zoom, setZoom] = useState(1);
  const [only, setOnly] = useState(false);
  const version = flow.version.value;
  const row = flow.row.value;
  const over = !!row?.ended;
  // Bars of running nodes grow each second; a flow that has ended is computed once.
  const at = over ? time(row!.ended) : now.value;
  const t = useMemo(() => timesOf(model, time(row?.started), at), [model, version, at]);
  const q = param("q").toLowerCase();
  const g = model.graph;
  const rows = useMemo(() => {
    const key = (v: number) => (Number.isNaN(v) ? Infinity : v);
    return g.order.filter((i) => (!q || g.names[i]!.toLowerCase().includes(q)) && (!only || t.critical[i]))
      .map((i) => ({ i, k: key(t.started[i]!) })).sort((a, b) => (a.k < b.k ? -1 : a.k > b.k ? 1 : g.layer[a.i]! - g.layer[b.i]! || a.i - b.i)).map((r) => r.i);
  }, [model, version, q, only]);
  const total = Math.max(1, t.to - t.from);
  const pct = (ms: number) => `${(100 * (ms - t.from)) / total}%`;
  const width = (ms: number) => `${(100 * Math.max(0, ms)) / total}%`;
  const length = t.criticalMs;
  return (
    <div class="timeline">
      <div class="filters">
        <span>Critical path: <b>{span(length)}</b></span>
        <label><input type="checkbox" checked={only} onChange={() => setOnly(!only)} /> Only the critical path</label>
        <span class="spacer" />
        <span class="dim legend-inline"><i class="key waits" /> waits <i class="key runs" /> runs <i class="key crit" /> critical</span>
        <button aria-label="Zoom in" onClick={() => setZoom(Math.min(64, zoom * 2))}>+</button>
        <button aria-label="Zoom out" onClick={() => setZoom(Math.max(1, zoom / 2))}>−</button>
      </div>
      <Grid label="Timeline" className="gantt" rows={rows.length} rowHeight={26} minWidth={zoom > 1 ? `${zoom * 100}%` : ""}
        columns={[{ id: "name", title: "Node" }, { id: "track", title: <Axis total={total} zoom={zoom} /> }]}
        keyOf={(r) => String(rows[r])} open={(r) => open(g.names[rows[r]!]!)}
        rowClass={(r) => (t.critical[rows[r]!] ? "critical" : "") + (g.names[rows[r]!] === param("node") ? " chosen" : "")}
        row={(r) => {
          const i = rows[r]!;
          const started = t.started[i]!, ready = t.ready[i]!;
          const hasStarted = !Number.isNaN(started);
          const end = Number.isNaN(t.ended[i]!) ? t.to : t.ended[i]!;
          const cls = classes[model.classes[i]!]!;
          const waiting = !Number.isNaN(ready) && (hasStarted ? started > ready : !over && model.classes[i]! === Pending);
          const waitEnd = hasStarted ? started : t.to;
          const words = hasStarted ? `waited ${span(Math.max(0, started - ready)) || "?"}, ran ${span(end - started)}` : "not started";
          return (
            <>
              <div role="gridcell" class="c-name"><i class={`dot ${cls}`} aria-hidden="true" /><span title={g.names[i]}>{g.names[i]}</span></div>
              <div role="gridcell" class="c-track" title={`${g.names[i]}: ${model.nodes[i]?.state ?? "Pending"}, ${words}`}>
                {waiting && <i class="wait" style={{ left: pct(ready), width: width(waitEnd - ready) }} />}
                {hasStarted && <i class={`run ${cls}`} style={{ left: pct(started), width: width(end - started) }} />}
                <span class="sr">{words}</span>
                {hasStarted && <small class={end > t.from + total * 0.85 ? "before" : ""}
                  style={end > t.from + total * 0.85 ? { right: `${100 - (100 * ((waiting ? Math.min(ready, started) : started) - t.from)) / total}%` } : { left: pct(end) }}>{span(end - started)}</small>}
              </div>
            </>);
        }} />
    </div>
  );
}

function Axis({ total, zoom }: { total: number; zoom: number }) {
  const list = ticks(total / zoom).length > 1 ? ticksFor(total, zoom) : [0];
  return <span class="axis" aria-hidden="true">{list.map((x) => <small key={x} style={{ left: `${(100 * x) / total}%` }}>{span(x)}</small>)}</span>;
}

function ticksFor(total: number, zoom: number): number[] {
  const step = ticks(total / zoom)[1]! || total;
  const list = [];
  for (let x = 0; x < total * 0.98 && list.length < 600; x += step) list.push(x);
  return list;
}
