// The drawer beside a flow: one node. Its state is the one that the flow's stream has sent.
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { watchDetail } from "../detail.ts";
import { param, setParams } from "../route.ts";
import { may } from "../session.ts";
import type { FlowNode } from "../types.ts";
import { act } from "./actions.tsx";
import { Empty, State, Tabs } from "./bits.tsx";
import { Events, Overview, podList, Pods, Yaml } from "./detail.tsx";
import { Logs } from "./logs.tsx";
import { Problem, unseen } from "./problem.tsx";

interface Props {
  namespace: string;
  flow: string;
  node: string;
  at?: FlowNode;
  waited?: string;
  critical?: boolean;
}

export function Drawer(p: Props) {
  const tab = param("tab") || "overview";
  const wide = param("wide") === "1";
  const [busy, setBusy] = useState(false);
  // While logs flow, their stream takes the place of the detail's: a page has at most two streams open.
  const detail = useMemo(() => watchDetail("JobFlow", p.namespace, p.flow, p.node), [p.namespace, p.flow, p.node]);
  useEffect(() => () => detail.stream.close(), [detail]);
  useEffect(() => detail.stream.hold(busy && tab === "logs"), [detail, busy, tab]);
  const d = detail.data.value;
  const state = detail.stream.state.value;
  const problem = state.problem || unseen("JobFlow", state.sources);
  const row = problem ? undefined : d.row;
  const close = () => setParams({ node: "", tab: "", wide: "" });
  // Before the drawer can be seen: a useEffect comes after a painted frame, and a fast Escape would be lost.
  useLayoutEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !document.querySelector("dialog[open]")) close();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const pods = podList(d);
  return (
    <aside class={wide ? "drawer wide" : "drawer"} aria-label={`Node ${p.node}`}>
      <header>
        <h2 title={p.node}>{p.node}</h2>
        {!problem && p.at && <State state={p.at.state} tone={p.at.tone} />}
        <span class="spacer" />
        {row && p.at?.started && may("create", "JobFlow", p.namespace) && (
          <button
            data-action="rerun"
            title="Create a new flow of this node and all that depends on it"
            onClick={() => void act("rerun", row, p.node)}
          >
            Run again from here
          </button>
        )}
        <button
          class="plain wider"
          aria-pressed={wide}
          aria-label={wide ? "Narrower" : "Wider"}
          onClick={() => setParams({ wide: wide ? "" : "1" })}
        >
          {wide ? "⇥" : "⇤"}
        </button>
        <button class="plain" aria-label="Close" onClick={close}>
          ×
        </button>
      </header>
      <Tabs
        label="Details"
        at={tab}
        pick={(id) => setParams({ tab: id === "overview" ? "" : id })}
        tabs={[
          { id: "overview", title: "Overview" },
          { id: "pods", title: `Pods${pods.length ? ` ${pods.length}` : ""}` },
          { id: "logs", title: "Logs" },
          { id: "events", title: `Events${d.events.size ? ` ${d.events.size}` : ""}` },
          { id: "yaml", title: "YAML" },
        ]}
      />
      <div class={`drawer-body t-${tab}`} role="tabpanel">
        <Problem text={problem} />
        {!row || !p.at ? (
          !problem && <Empty>Loading…</Empty>
        ) : tab === "pods" ? (
          <Pods d={d} />
        ) : tab === "logs" ? (
          <Logs key={p.node} namespace={p.namespace} pods={pods} running={setBusy} refresh={detail.refresh} />
        ) : tab === "events" ? (
          <Events d={d} />
        ) : tab === "yaml" ? (
          <Yaml text={d.yaml} name={p.node} />
        ) : (
          <Overview d={d} node={p.at} waited={p.waited} critical={p.critical} />
        )}
      </div>
    </aside>
  );
}
