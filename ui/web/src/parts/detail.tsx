// The parts of a detail: why it doesn't run and what to do, pods, logs, events, YAML, inputs and outputs.
import { useMemo } from "preact/hooks";
import type { DetailData } from "../detail.ts";
import { clock, duration, time } from "../format.ts";
import { hrefOf } from "../route.ts";
import { may } from "../session.ts";
import type { Explanation, FlowNode, Pod } from "../types.ts";
import { Age, Empty, State } from "./bits.tsx";
import { Lines } from "./virtual.tsx";

const phaseTone: Record<string, "good" | "bad" | "run" | "wait"> = {
  Failed: "bad",
  Blocked: "bad",
  Waiting: "wait",
  Starting: "run",
  Running: "run",
  Succeeded: "good",
};

export function Why({ e }: { e?: Explanation }) {
  if (!e) return null;
  return (
    <section class={`why ${phaseTone[e.phase ?? ""] ?? "quiet"}`} aria-label="Why">
      <h3>
        {e.phase}
        {e.reason && e.reason !== e.phase && <small>{e.reason}</small>}
      </h3>
      {e.message && <p>{e.message}</p>}
      {e.next && (
        <p class="next">
          <b>Next</b> {e.next}
        </p>
      )}
      {e.path && e.path.length > 1 && (
        <p class="path">
          {e.path.map((o, i) => (
            <span key={i}>
              {i > 0 && " › "}
              {o.kind} {o.name}
              {o.state && ` (${o.state})`}
            </span>
          ))}
        </p>
      )}
      {!!e.others && <p class="path">{e.others} more {e.others === 1 ? "object has" : "objects have"} a problem.</p>}
      {e.unread?.map((u) => (
        <p key={u} class="path">
          This may be incomplete: couldn't {u}
        </p>
      ))}
    </section>
  );
}

export function podList(d: DetailData): Pod[] {
  return [...d.pods.values()].sort(
    (a, b) =>
      (a.role ?? "").localeCompare(b.role ?? "") ||
      (a.rank ?? 1e9) - (b.rank ?? 1e9) ||
      (time(a.created) || 0) - (time(b.created) || 0) ||
      a.name.localeCompare(b.name),
  );
}

export function Pods({ d }: { d: DetailData }) {
  const pods = podList(d);
  if (!may("list", "Pod", d.row?.namespace)) return <Empty>You may not list pods here.</Empty>;
  if (!pods.length) return <Empty>There are no pods.</Empty>;
  return (
    <ul class="pods">
      {pods.slice(0, 500).map((p) => (
        <li key={p.uid}>
          <div class="line1">
            <State state={p.state} tone={p.tone} />
            <b>{p.name}</b>
          </div>
          <div class="line2">
            {p.node ? `on ${p.node}` : "no node yet"} · <Age at={p.created} /> old
            {p.started && ` · ran ${duration(p.started, p.ended)}`}
            {p.restarts ? ` · ${p.restarts} restarts` : ""}
          </div>
          {p.containers?.map((c) => (
            <div class="line2" key={c.name}>
              {c.init ? "init " : ""}
              {c.name}: {c.state}
              {c.reason && ` (${c.reason})`}
              {c.exitCode !== undefined && `, exit code ${c.exitCode}`}
              {c.restarts ? `, ${c.restarts} restarts` : ""}
            </div>
          ))}
        </li>
      ))}
      {pods.length > 500 && <li>and {pods.length - 500} more</li>}
    </ul>
  );
}

export function Events({ d }: { d: DetailData }) {
  const events = [...d.events.values()].sort((a, b) => (time(b.last) || 0) - (time(a.last) || 0));
  if (!may("list", "Event", d.row?.namespace)) return <Empty>You may not list events here.</Empty>;
  if (!events.length) return <Empty>There are no events. The API server keeps them for an hour.</Empty>;
  return (
    <ul class="events">
      {events.slice(0, 300).map((e) => (
        <li key={e.uid} class={e.type === "Warning" ? "warning" : ""}>
          <div class="line1">
            <b>{e.reason}</b>
            <span class="dim">
              <Age at={e.last} /> ago{(e.count ?? 1) > 1 && `, ${e.count} times`}
            </span>
          </div>
          <div>{e.message}</div>
          {e.about && <div class="dim">{e.about}</div>}
        </li>
      ))}
    </ul>
  );
}

export function Yaml({ text = "", name }: { text?: string; name: string }) {
  const lines = useMemo(() => text.split("\n").map((t) => ({ text: t })), [text]);
  const download = () => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
    a.download = `${name}.yaml`;
    a.click();
    URL.revokeObjectURL(a.href);
  };
  return (
    <div class="yaml">
      <div class="buttons">
        <button onClick={() => void navigator.clipboard?.writeText(text)}>Copy</button>
        <button onClick={download}>Download</button>
      </div>
      <Lines lines={lines} label="YAML" />
    </div>
  );
}

function Pairs({ title, rows }: { title: string; rows?: { name: string; value?: string; from?: string }[] }) {
  if (!rows?.length) return null;
  return (
    <section>
      <h3>{title}</h3>
      <dl class="pairs">
        {rows.map((r, i) => [
          <dt key={`n${i}`}>{r.name}</dt>,
          <dd key={`v${i}`}>
            {r.value}
            {r.from && <small>from {r.from}</small>}
          </dd>,
        ])}
      </dl>
    </section>
  );
}

interface OverviewProps {
  d: DetailData;
  node?: FlowNode;
  waited?: string;
  critical?: boolean;
}

// Overview is what is known of an object, or of a node of a flow.
export function Overview({ d, node, waited, critical }: OverviewProps) {
  const at = node ?? d.row;
  const facts: [string, string][] = [];
  const add = (name: string, value: unknown) => {
    if (value) facts.push([name, String(value)]);
  };
  add("Started", clock(at?.started));
  add("Ended", clock(at?.ended));
  add("Ran", at?.started && duration(at.started, at.ended));
  add("Waited", waited);
  add("Attempts", node?.attempts);
  add("Job", node?.job);
  if (critical) facts.push(["Critical path", "on it"]);
  if (!node) {
    add("Created", clock(d.row?.created));
    add("Queue", d.row?.queue);
    add("Size", d.row?.size);
    const labels = Object.entries(d.row?.labels ?? {});
    add("Labels", labels.map(([k, v]) => `${k}=${v}`).join(", "));
  }
  return (
    <>
      <Why e={d.explain} />
      {at?.message && <p class="message">{at.message}</p>}
      <dl class="pairs">
        {facts.map(([n, v]) => [
          <dt key={n}>{n}</dt>,
          <dd key={n + "v"}>
            {n === "Job" && d.row ? <a href={hrefOf({ kind: "Job", namespace: d.row.namespace, name: v })}>{v}</a> : v}
          </dd>,
        ])}
      </dl>
      <Pairs title="Inputs" rows={d.io?.inputs} />
      <Pairs title="Outputs" rows={d.io?.outputs} />
    </>
  );
}
