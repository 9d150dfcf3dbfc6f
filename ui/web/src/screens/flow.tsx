// One flow: its numbers first, then a graph, a timeline or a table, and a drawer for a node.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { watchFlow } from "../flow/watch.ts";
import { time } from "../format.ts";
import { timesOf } from "../flow/model.ts";
import { duration, now, span } from "../format.ts";
import { hrefOf, param, setParams } from "../route.ts";
import { Actions } from "../parts/actions.tsx";
import { CountsBar, Empty, State, Tabs } from "../parts/bits.tsx";
import { Drawer } from "../parts/drawer.tsx";
import { Limited, Problem, unseen } from "../parts/problem.tsx";
import { stateOf } from "../objects.ts";
import type { FlowNode } from "../types.ts";
import { GraphView } from "../flow/graph.tsx";
import { NodeTable } from "../flow/table.tsx";
import { Timeline } from "../flow/timeline.tsx";

export function FlowScreen({ namespace, name }: { namespace: string; name: string }) {
  const flow = useMemo(() => watchFlow(namespace, name), [namespace, name]);
  useEffect(() => () => flow.stream.close(), [flow]);
  const state = flow.stream.state.value;
  const problem = state.problem || unseen("JobFlow", state.sources);
  const row = problem ? undefined : flow.row.value;
  const model = flow.model.value;
  const view = param("view") || "graph";
  const node = param("node");
  const open = (n: string) => setParams({ node: n }, !!node);
  return (
    <main class="screen flow">
      <div class="title">
        <h1>
          <span class="dim">
            <a href={`/?namespace=${encodeURIComponent(namespace)}`}>{namespace}</a> /{" "}
          </span>
          {name}
        </h1>
        {row && <State state={stateOf(row)} tone={row.tone} />}
        {row?.paused && <span class="flag">paused</span>}
        {row?.started && (
          <span class="dim">
            {row.ended ? "took" : "for"} {duration(row.started, row.ended)}
          </span>
        )}
        <span class="spacer" />
        <a class="button" href={hrefOf({ kind: "JobFlow", namespace, name }).replace("/flows/", "/objects/JobFlow/")}>
          Details
        </a>
        {row && <Actions row={row} />}
      </div>
      <Problem text={problem} />
      {row && <CountsBar counts={row.counts} />}
      {row?.message && row.tone === "bad" && <p class="message bad">{row.message}</p>}
      <div class="bar-tabs">
        <Tabs
          label="Views"
          at={view}
          pick={(id) => setParams({ view: id === "graph" ? "" : id })}
          tabs={[
            { id: "graph", title: "Graph" },
            { id: "timeline", title: "Timeline" },
            { id: "table", title: "Table" },
          ]}
        />
        <input
          type="search"
          placeholder="Search nodes ( / )"
          aria-label="Search nodes"
          data-search
          value={param("q")}
          onInput={(e) => setParams({ q: e.currentTarget.value })}
        />
      </div>
      <div class="with-drawer">
        <div class="view">
          {!model || !(state.synced || flow.shown.value) ? (
            !problem && <Empty>Loading…</Empty>
          ) : view === "timeline" ? (
            <Timeline flow={flow} model={model} open={open} />
          ) : view === "table" ? (
            <NodeTable flow={flow} model={model} open={open} />
          ) : (
            <GraphView key={`${namespace}/${name}`} flow={flow} model={model} open={open} />
          )}
        </div>
        {node && <NodeDrawer key={node} flow={flow} namespace={namespace} name={name} node={node} />}
      </div>
      <Limited sources={state.sources} />
    </main>
  );
}

function NodeDrawer(p: { flow: ReturnType<typeof watchFlow>; namespace: string; name: string; node: string }) {
  const model = p.flow.model.value;
  void p.flow.version.value;
  const i = model?.index.get(p.node) ?? -1;
  // After a reconnect the former state stays until the new one is complete.
  const at = useRef<FlowNode | undefined>(undefined);
  if (model && i >= 0 && p.flow.stream.state.value.synced) {
    at.current = model.nodes[i] ?? { i, state: "Pending", tone: "wait" };
  }
  let waited = "",
    critical = false;
  if (model && i >= 0) {
    const t = timesOf(model, time(p.flow.row.value?.started), now.peek());
    const end = Number.isNaN(t.started[i]!) ? (p.flow.row.value?.ended ? NaN : now.value) : t.started[i]!;
    waited = span(end - t.ready[i]!);
    critical = t.critical[i] === 1;
  }
  return <Drawer namespace={p.namespace} flow={p.name} node={p.node} at={at.current} waited={waited} critical={critical} />;
}
