// Two runs of a flow, node by node: what took longer, what ended otherwise, and what differs in the spec.
import { useEffect, useState } from "preact/hooks";
import { get, query } from "../api.ts";
import { plural, span } from "../format.ts";
import { stateOf } from "../objects.ts";
import { hrefOf, param, setParams } from "../route.ts";
import type { Comparison, Row } from "../types.ts";
import { CountsBar, Empty, State } from "../parts/bits.tsx";
import { Grid } from "../parts/virtual.tsx";
import { duration } from "../format.ts";

export function CompareScreen() {
  const namespace = param("namespace"), a = param("a"), b = param("b");
  const [result, setResult] = useState<Comparison | undefined>(undefined);
  const [error, setError] = useState("");
  const [only, setOnly] = useState(false);
  useEffect(() => {
    setResult(undefined);
    setError("");
    if (!a || !b) return;
    get<Comparison>("/api/compare" + query({ namespace, a, b })).then(setResult, (e: Error) => setError(e.message));
  }, [namespace, a, b]);
  const nodes = (result?.nodes ?? []).filter((n) => !only || n.a?.state !== n.b?.state || Math.abs(n.delta ?? 0) >= 1);
  const most = Math.max(1, ...(result?.nodes ?? []).map((n) => Math.max(n.aSeconds ?? 0, n.bSeconds ?? 0)));
  return (
    <main class="screen compare">
      <form class="filters" onSubmit={(e) => {
        e.preventDefault();
        const f = new FormData(e.currentTarget);
        setParams({ namespace: String(f.get("namespace")), a: String(f.get("a")), b: String(f.get("b")) }, false);
      }}>
        <label>Namespace <input name="namespace" defaultValue={namespace} size={12} /></label>
        <label>Run <input name="a" defaultValue={a} size={24} /></label>
        <label>with <input name="b" defaultValue={b} size={24} /></label>
        <button>Compare</button>
        <span class="spacer" />
        <label><input type="checkbox" checked={only} onChange={() => setOnly(!only)} /> Only differences</label>
      </form>
      {error && <Empty>{error}</Empty>}
      {!error && !result && <Empty>{a && b ? "Loading…" : "Name two flows, or mark two in the list."}</Empty>}
      {result && <>
        <div class="pair"><Head row={result.a} letter="A" /><Head row={result.b} letter="B" /></div>
        {!!result.spec?.length && <section class="spec">
          <h3>{plural(result.spec.length, "difference")} of the spec</h3>
          <table><thead><tr><th>Field</th><th>A</th><th>B</th></tr></thead>
            <tbody>{result.spec.slice(0, 200).map((s) => <tr key={s.path}><td>{s.path}</td><td>{s.a ?? "—"}</td><td>{s.b ?? "—"}</td></tr>)}</tbody></table>
        </section>}
        <Grid label="Nodes of both runs" className="compare-nodes" rows={nodes.length} rowHeight={34} keyOf={(i) => nodes[i]!.name} open={() => {}}
          columns={[{ id: "name", title: "Node" }, { id: "a", title: "A" }, { id: "b", title: "B" }, { id: "bars", title: "Duration" }, { id: "delta", title: "Change" }]}
          row={(i) => {
            const n = nodes[i]!;
            const d = n.delta ?? 0;
            return (
              <>
                <div role="gridcell" class="c-name" title={n.name}>{n.name}</div>
                <div role="gridcell" class="c-a">{n.a ? <State state={n.a.state} tone={n.a.tone} /> : "—"}</div>
                <div role="gridcell" class="c-b">{n.b ? <State state={n.b.state} tone={n.b.tone} /> : "—"}</div>
                <div role="gridcell" class="c-bars" aria-label={`A ${n.aSeconds ?? "none"}, B ${n.bSeconds ?? "none"} seconds`}>
                  <i class="a" style={{ width: `${(100 * (n.aSeconds ?? 0)) / most}%` }} /><i class="b" style={{ width: `${(100 * (n.bSeconds ?? 0)) / most}%` }} /></div>
                <div role="gridcell" class={`c-delta ${d > 0 ? "slower" : d < 0 ? "faster" : ""}`}>{n.delta === undefined ? "" : `${d > 0 ? "+" : d < 0 ? "−" : ""}${Math.abs(d) < 10 ? Math.abs(d).toFixed(1) + "s" : span(Math.abs(d) * 1000)}`}</div>
              </>);
          }} />
      </>}
    </main>
  );
}

function Head({ row, letter }: { row: Row; letter: string }) {
  return (
    <section>
      <h2><span class={`letter ${letter}`}>{letter}</span> <a href={hrefOf(row)}>{row.name}</a> <State state={stateOf(row)} tone={row.tone} /> <small class="dim">{duration(row.started, row.ended)}</small></h2>
      <CountsBar counts={row.counts} />
    </section>
  );
}
