// A DSOI cluster: its node types in the order of deployment, how far a roll-out has come in each, and where it halted.
import { clock, duration } from "../format.ts";
import { Empty } from "./bits.tsx";

interface NodeType {
  name: string;
  state?: string;
  revision?: string;
  ready?: number;
  desired?: number;
}

interface Upgrade {
  startedAt?: string;
  finishedAt?: string;
  fromRevision?: string;
  toRevision?: string;
}

export function Cluster({ object }: { object: Record<string, any> }) {
  const status = object.status ?? {};
  const types: NodeType[] = Array.isArray(status.nodeTypes) ? status.nodeTypes : [];
  const upgrade: Upgrade | undefined = status.upgrade;
  const halted = (status.conditions ?? []).find((c: any) => (c.type === "Stalled" || c.type === "Failed" || c.type === "Halted") && c.status === "True");
  return (
    <section class="map">
      <h3>Roll-out{status.phase && <small>{String(status.phase)}</small>}</h3>
      {halted && <div class="why bad"><h3>Halted<small>{String(halted.reason ?? "")}</small></h3><p>{String(halted.message ?? "")}</p></div>}
      {upgrade?.startedAt && <p class="dim">{upgrade.fromRevision ?? "none"} → {upgrade.toRevision} · started {clock(upgrade.startedAt)}
        {upgrade.finishedAt ? `, took ${duration(upgrade.startedAt, upgrade.finishedAt)}` : `, for ${duration(upgrade.startedAt)}`}</p>}
      {!types.length && <Empty>There are no node types yet.</Empty>}
      <ol class="types">
        {types.map((t) => {
          const ready = t.ready ?? 0, desired = t.desired ?? 0;
          const done = desired ? ready / desired : t.state === "Ready" ? 1 : 0;
          const tone = /fail|halt|stall/i.test(t.state ?? "") ? "bad" : done >= 1 && !/progress|wait|pending/i.test(t.state ?? "") ? "good" : /wait|pending/i.test(t.state ?? "") ? "wait" : "run";
          return (
            <li key={t.name} class={tone}>
              <div class="line1"><b>{t.name}</b><span>{t.state}</span></div>
              <span class="bar"><i class={tone} style={{ width: `${Math.min(1, done) * 100}%` }} /></span>
              <div class="dim">{ready} of {desired} ready{t.revision && ` · revision ${t.revision}`}</div>
            </li>);
        })}
      </ol>
    </section>
  );
}
