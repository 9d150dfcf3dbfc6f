// A flow's nodes as a table: what the graph shows, for reading, sorting and screen readers.
import { useMemo, useState } from "preact/hooks";
import { duration, now, span, time } from "../format.ts";
import { param } from "../route.ts";
import { State } from "../parts/bits.tsx";
import { Grid } from "../parts/virtual.tsx";
import { phone } from "../phone.ts";
import { finallyFlag, forEachFlag, allowFailureFlag, whenFlag, missingFlag, timesOf, type FlowModel } from "./model.ts";
import type { FlowWatch } from "./watch.ts";

type Column = "name" | "layer" | "state" | "waited" | "ran" | "started" | "attempts";
const columns: [Column, string][] = [
  ["name", "Node"],
  ["layer", "Layer"],
  ["state", "State"],
  ["waited", "Waited"],
  ["ran", "Ran"],
  ["started", "Started"],
  ["attempts", "Attempts"],
];

export function NodeTable({ flow, model, open }: { flow: FlowWatch; model: FlowModel; open(name: string): void }) {
  const [order, setOrder] = useState<{ by: Column; down: boolean }>({ by: "layer", down: false });
  const version = flow.version.value;
  const q = param("q").toLowerCase();
  const g = model.graph;
  const t = useMemo(() => timesOf(model, time(flow.row.peek()?.started), now.peek()), [model, version]);
  const rows = useMemo(() => {
    const list = q ? g.order.filter((i) => g.names[i]!.toLowerCase().includes(q)) : g.order.slice();
    const low = (v: number) => (Number.isNaN(v) ? -1 : v);
    const value: Record<Column, (i: number) => number | string> = {
      name: (i) => g.names[i]!,
      layer: (i) => g.layer[i]!,
      state: (i) => model.classes[i]!,
      attempts: (i) => model.nodes[i]?.attempts ?? 0,
      waited: (i) => low(t.started[i]! - t.ready[i]!),
      started: (i) => low(t.started[i]!),
      ran: (i) => low((Number.isNaN(t.ended[i]!) ? t.to : t.ended[i]!) - t.started[i]!),
    };
    const of = value[order.by],
      sign = order.down ? -1 : 1;
    return list.sort((a, b) => {
      const x = of(a),
        y = of(b);
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }, [model, version, q, order]);
  return (
    <Grid
      label="Nodes"
      className="nodes"
      rows={rows.length}
      rowHeight={phone.value ? 44 : 30}
      columns={[
        ...columns.map(([id, title]) => ({
          id,
          title,
          sort: () => setOrder({ by: id, down: order.by === id && !order.down }),
          sorted: order.by === id ? (order.down ? ("descending" as const) : ("ascending" as const)) : undefined,
        })),
        { id: "message", title: "Message" },
      ]}
      keyOf={(r) => String(rows[r])}
      open={(r) => open(g.names[rows[r]!]!)}
      rowClass={(r) => (g.names[rows[r]!] === param("node") ? "chosen" : "")}
      row={(r) => {
        const i = rows[r]!;
        const n = model.nodes[i];
        const flags = g.flags[i]!;
        return (
          <>
            <div role="gridcell" class="c-name">
              <span title={g.names[i]}>{g.names[i]}</span>
              {flags & finallyFlag ? <span class="flag">finally</span> : null}
              {flags & forEachFlag ? <span class="flag">each</span> : null}
              {flags & whenFlag ? (
                <span class="flag" title={g.when?.[i]}>
                  when
                </span>
              ) : null}
              {flags & allowFailureFlag ? <span class="flag">may fail</span> : null}
              {flags & missingFlag ? <span class="flag">missing</span> : null}
            </div>
            <div role="gridcell" class="c-layer">
              {g.layer[i]! + 1}
            </div>
            <div role="gridcell" class="c-state">
              <State state={n?.state} tone={n?.tone} />
            </div>
            <div role="gridcell" class="c-waited">
              {span(t.started[i]! - t.ready[i]!)}
            </div>
            <div role="gridcell" class="c-ran">
              {duration(n?.started, n?.ended)}
            </div>
            <div role="gridcell" class="c-started">
              {n?.started && new Date(n.started).toLocaleTimeString()}
            </div>
            <div role="gridcell" class="c-attempts">
              {n?.attempts}
            </div>
            <div role="gridcell" class="c-message" title={n?.message}>
              {n?.message}
            </div>
          </>
        );
      }}
    />
  );
}
