// A DaemonJob as a map: a square for each node of the cluster, coloured by how the job stands there.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, toneOf } from "../format.ts";
import type { MapNode, Pod } from "../types.ts";
import { Empty, State } from "./bits.tsx";

const order = ["Failed", "Running", "Waiting", "Suspended", "Pending", "Succeed"];

export function NodeMap({ nodes, pods }: { nodes: MapNode[]; pods: Pod[] }) {
  const [state, setState] = useState("");
  const [text, setText] = useState("");
  const [at, setAt] = useState("");
  const ref = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(40);
  const [top, setTop] = useState(0);
  const size = 22;
  useLayoutEffect(() => {
    const el = ref.current;
    if (!el) return;
    const observer = new ResizeObserver(() => setColumns(Math.max(4, Math.floor(el.clientWidth / size))));
    observer.observe(el);
    return () => observer.disconnect();
  }, [nodes.length === 0]);
  const counts = useMemo(() => {
    const c = new Map<string, number>();
    for (const n of nodes) c.set(n.state ?? "Pending", (c.get(n.state ?? "Pending") ?? 0) + 1);
    return [...c].sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  }, [nodes]);
  const shown = nodes.filter((n) => (!state || (n.state ?? "Pending") === state) && (!text || n.name.includes(text)))
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  const chosen = nodes.find((n) => n.name === at);
  if (!nodes.length) return <section class="map"><h3>Nodes</h3><Empty>No node is selected yet.</Empty></section>;
  const first = Math.max(0, Math.floor(top / size) - 4) * columns;
  const last = Math.min(shown.length, first + (Math.ceil(460 / size) + 8) * columns);
  const key = (e: KeyboardEvent) => {
    const i = shown.findIndex((n) => n.name === at);
    const to = ({ ArrowRight: i + 1, ArrowLeft: i - 1, ArrowDown: i + columns, ArrowUp: i - columns } as Record<string, number>)[e.key];
    if (to === undefined || !shown[Math.max(0, to)]) return;
    e.preventDefault();
    const k = Math.max(0, to);
    setAt(shown[k]!.name);
    const y = Math.floor(k / columns) * size;
    const el = ref.current!;
    if (y < el.scrollTop || y > el.scrollTop + el.clientHeight - size) el.scrollTop = y - el.clientHeight / 2;
  };
  return (
    <section class="map">
      <h3>{count(nodes.length)} nodes</h3>
      <div class="filters">
        {counts.map(([s, c]) => <button key={s} class={s === state ? "chip on" : "chip"} aria-pressed={s === state} onClick={() => setState(s === state ? "" : s)}>{s} <small>{count(c)}</small></button>)}
        <input type="search" placeholder="Search nodes" aria-label="Search nodes" value={text} onInput={(e) => setText(e.currentTarget.value)} />
      </div>
      <div ref={ref} class="squares" tabIndex={0} role="listbox" aria-label="Map of nodes" onKeyDown={key} onScroll={(e) => setTop(e.currentTarget.scrollTop)}
        aria-activedescendant={at ? "square-" + at : undefined}>
        <div class="squares-inner" style={{ height: `${Math.ceil(shown.length / columns) * size}px` }}>
          {shown.slice(first, last).map((n, k) => (
            <div key={n.name} id={"square-" + n.name} role="option" aria-selected={n.name === at} aria-label={`${n.name}: ${n.state ?? "Pending"}`}
              title={[n.name, n.state ?? "Pending", n.message].filter(Boolean).join("\n")} class={`square ${toneOf(n.tone)} ${n.name === at ? "on" : ""}`}
              style={{ transform: `translate(${((first + k) % columns) * size}px, ${Math.floor((first + k) / columns) * size}px)` }} onClick={() => setAt(n.name)} />))}
        </div>
      </div>
      {chosen && <div class="card">
        <b>{chosen.name}</b> <State state={chosen.state} tone={chosen.tone} />
        {chosen.message && <p>{chosen.message}</p>}
        {chosen.job && <p class="dim">Job {chosen.job}</p>}
        {pods.filter((p) => p.node === chosen.name).map((p) => <p key={p.uid} class="dim">Pod {p.name}: {p.state}</p>)}
      </div>}
    </section>
  );
}
