// One object of any kind: why, what belongs to its kind (a map of nodes, ranks, a cluster's node types), pods, logs,
// events, YAML.
import { useEffect, useMemo, useState } from "preact/hooks";
import { watchDetail, type DetailData } from "../detail.ts";
import { count, duration, plural } from "../format.ts";
import { stateOf } from "../objects.ts";
import { hrefOf, param, setParams } from "../route.ts";
import { Actions } from "../parts/actions.tsx";
import { Empty, Progress, State, Tabs } from "../parts/bits.tsx";
import { Events, Overview, podList, Pods, Yaml } from "../parts/detail.tsx";
import { Logs } from "../parts/logs.tsx";
import { NodeMap } from "../parts/nodemap.tsx";
import { Limited, Problem, unseen } from "../parts/problem.tsx";
import { Ranks } from "../parts/ranks.tsx";
import { Cluster } from "../parts/cluster.tsx";

export function ObjectScreen({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  const detail = useMemo(() => watchDetail(kind, namespace, name), [kind, namespace, name]);
  useEffect(() => () => detail.stream.close(), [detail]);
  const [busy, setBusy] = useState(false);
  const d = detail.data.value;
  const state = detail.stream.state.value;
  const pods = podList(d);
  const special = specialOf(kind, d);
  const tab = param("tab") || "overview";
  useEffect(() => detail.stream.hold(busy && tab === "logs"), [detail, busy, tab]);
  const problem = state.problem || unseen(kind, state.sources);
  const row = problem ? undefined : d.row;
  return (
    <main class="screen object">
      <div class="title">
        <h1>
          <span class="dim">
            {namespace !== "-" && (
              <>
                <a href={`/?namespace=${encodeURIComponent(namespace)}`}>{namespace}</a> /{" "}
              </>
            )}
            {kind}{" "}
          </span>
          {name}
        </h1>
        {row && stateOf(row) && <State state={stateOf(row)} tone={row.tone} />}
        {row?.paused && <span class="flag">paused</span>}
        {row && <Progress row={row} />}
        {row?.started && (
          <span class="dim">
            {row.ended ? "took" : "for"} {duration(row.started, row.ended)}
          </span>
        )}
        <span class="spacer" />
        {kind === "JobFlow" && (
          <a class="button" href={hrefOf({ kind, namespace, name })}>
            Graph
          </a>
        )}
        {row && <Actions row={row} />}
      </div>
      <Problem text={problem} />
      <Tabs
        label="Details"
        at={tab}
        pick={(id) => setParams({ tab: id === "overview" ? "" : id })}
        tabs={[
          { id: "overview", title: "Overview" },
          { id: "pods", title: `Pods${pods.length ? ` ${count(pods.length)}` : ""}` },
          { id: "logs", title: "Logs" },
          { id: "events", title: `Events${d.events.size ? ` ${d.events.size}` : ""}` },
          { id: "yaml", title: "YAML" },
        ]}
      />
      <div class={`object-body t-${tab}`} role="tabpanel">
        {!row ? (
          !problem && <Empty>Loading…</Empty>
        ) : tab === "pods" ? (
          <Pods d={d} />
        ) : tab === "logs" ? (
          <Logs namespace={row.namespace ?? ""} pods={pods} running={setBusy} refresh={detail.refresh} />
        ) : tab === "events" ? (
          <Events d={d} />
        ) : tab === "yaml" ? (
          <Yaml text={d.yaml} name={name} />
        ) : (
          <div class={special ? "two" : "one"}>
            <div>
              <Overview d={d} />
              <Conditions d={d} />
            </div>
            {special}
          </div>
        )}
      </div>
      <Limited sources={state.sources} />
    </main>
  );
}

function specialOf(kind: string, d: DetailData) {
  if (kind === "DaemonJob") return <NodeMap nodes={[...d.nodes.values()]} pods={podList(d)} />;
  if (kind === "ReplicaJob" || kind === "MiniCluster" || kind === "FluxJob")
    return <Ranks pods={podList(d)} kind={kind} desired={d.row?.size} />;
  if (d.object?.status?.nodeTypes) return <Cluster object={d.object} />;
  return null;
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

function Conditions({ d }: { d: DetailData }) {
  const list = d.object?.status?.conditions;
  if (!Array.isArray(list) || !list.length) return null;
  return (
    <section>
      <h3>{plural(list.length, "condition")}</h3>
      <dl class="pairs">
        {(list as Condition[]).map((c) => [
          <dt key={c.type}>{c.type}</dt>,
          <dd key={c.type + "v"}>
            {c.status}
            <small>{c.reason}</small>
            {c.message && <div class="dim">{c.message}</div>}
          </dd>,
        ])}
      </dl>
    </section>
  );
}
