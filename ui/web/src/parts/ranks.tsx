// A job of ranks (ReplicaJob, MiniCluster): each rank's pod in its place, gaps where a rank has no pod.
import { useState } from "preact/hooks";
import { count, duration, toneOf } from "../format.ts";
import type { Pod } from "../types.ts";
import { Empty, State } from "./bits.tsx";

export function Ranks({ pods, kind, desired }: { pods: Pod[]; kind: string; desired?: number }) {
  const [at, setAt] = useState("");
  const ranked = pods.filter((p) => p.rank !== undefined);
  const roles = new Map<string, Pod[]>();
  for (const p of ranked) {
    const role = p.role ?? (kind === "ReplicaJob" ? "replicas" : "brokers");
    roles.set(role, [...(roles.get(role) ?? []), p]);
  }
  const chosen = ranked.find((p) => p.uid === at);
  return (
    <section class="map">
      <h3>Ranks</h3>
      {!ranked.length && <Empty>No rank has a pod yet{desired ? `; ${count(desired)} are desired` : ""}.</Empty>}
      {[...roles].map(([role, list]) => {
        // A rank's newest pod stands for it; its older ones ran before a restart.
        const newest = new Map<number, Pod>();
        for (const p of list) {
          const other = newest.get(p.rank!);
          if (!other || (p.created ?? "") > (other.created ?? "")) newest.set(p.rank!, p);
        }
        const wanted = roles.size === 1 && desired ? desired : 0;
        const size = Math.min(4000, Math.max(wanted, ...[...newest.keys()].map((r) => r + 1)));
        const ready = [...newest.values()].filter((p) => p.ready).length;
        return (
          <div key={role} class="role">
            <h4>{role} <small>{count(newest.size)} of {count(size)} with a pod, {count(ready)} ready</small></h4>
            <ol class="ranks" aria-label={`Ranks of ${role}`}>
              {Array.from({ length: size }, (_, r) => {
                const p = newest.get(r);
                return <li key={r}><button class={`rank ${p ? toneOf(p.tone) : "none"} ${p?.uid === at && at ? "on" : ""}`} disabled={!p}
                  title={p ? `${p.name}\n${p.state}` : "no pod"} aria-label={`Rank ${r}: ${p?.state ?? "no pod"}`} onClick={() => setAt(p!.uid)}>{r}</button></li>;
              })}
            </ol>
          </div>);
      })}
      {chosen && <div class="card">
        <b>{chosen.name}</b> <State state={chosen.state} tone={chosen.tone} />
        <p class="dim">rank {chosen.rank}{chosen.role && ` of ${chosen.role}`}{chosen.node && `, on ${chosen.node}`}{chosen.started && `, ran ${duration(chosen.started, chosen.ended)}`}
          {chosen.restarts ? `, ${chosen.restarts} restarts` : ""}</p>
        {chosen.containers?.map((c) => <p key={c.name} class="dim">{c.name}: {c.state}{c.reason && ` (${c.reason})`}{c.exitCode !== undefined && `, exit code ${c.exitCode}`}</p>)}
      </div>}
    </section>
  );
}
