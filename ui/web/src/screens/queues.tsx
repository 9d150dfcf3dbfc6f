// Queues: how much of each quota is used, who uses it, and who waits for what.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { query } from "../api.ts";
import { clock, count, now, plural, since, span, time } from "../format.ts";
import { openStream } from "../stream.ts";
import type { Queue } from "../types.ts";
import { Age, Empty } from "../parts/bits.tsx";
import { chosenNamespaces, NamespacePicker } from "../parts/namespaces.tsx";
import { Limited, Problem } from "../parts/problem.tsx";

function watchQueues(namespaces: string[]) {
  const known = new Map<string, Queue>();
  const queues = signal<Queue[]>([]);
  const changed = () => {
    queues.value = [...known.values()].sort((a, b) => a.name.localeCompare(b.name));
  };
  const stream = openStream("/api/stream/queues" + query({ namespace: namespaces }), {
    reset: () => known.clear(),
    synced: changed,
    set: (list: Queue[]) => {
      for (const q of list) known.set(q.name, q);
      changed();
    },
    gone: (names: string[]) => {
      for (const n of names) known.delete(n);
      changed();
    },
  });
  return { queues, stream };
}

export function QueuesScreen() {
  const namespaces = chosenNamespaces();
  const key = namespaces.join(" ");
  const watch = useMemo(() => watchQueues(namespaces), [key]);
  useEffect(() => () => watch.stream.close(), [watch]);
  const state = watch.stream.state.value;
  const forbidden = state.sources.filter((s) => s.state === "forbidden" || s.state === "absent");
  const queues = watch.queues.value;
  return (
    <main class="screen queues">
      <div class="filters">
        <NamespacePicker />
        <span class="spacer" />
        <span class="total" role="status">
          {plural(queues.length, "queue")}
        </span>
      </div>
      <Problem text={state.problem} />
      <div class="scroll">
        {queues.map((q) => (
          <QueueCard key={q.name} q={q} />
        ))}
        {!queues.length && !state.problem && (
          <Empty>
            {forbidden.length
              ? forbidden.map((s) => s.message || `${s.kind}: ${s.state}`).join(" ")
              : state.synced
                ? "There are no queues."
                : "Loading…"}
          </Empty>
        )}
      </div>
      <Limited sources={state.sources} />
    </main>
  );
}

const percent = (share = 0) => `${Math.round(share * 100)}%`;

function QueueCard({ q }: { q: Queue }) {
  const [all, setAll] = useState(false);
  const waiting = q.waiting ?? [];
  const tone = q.missing ? "bad" : q.hidden ? "quiet" : q.ready === "Active" || !q.ready ? "good" : "wait";
  return (
    <section class="queue" aria-label={`Queue ${q.name}`}>
      <header>
        <h2>{q.name}</h2>
        <span class={`state ${tone}`}>
          <i aria-hidden="true" />
          {q.missing ? "Missing" : q.hidden ? "Not visible" : (q.ready ?? "Active")}
        </span>
        <span class="dim">
          {[q.strategy, q.cohort && `cohort ${q.cohort}`, q.manager && `flux ${q.manager.name}`]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </header>
      {q.hidden && <p class="dim">You may not list FluxSetups: the quota and who has it are not shown.</p>}
      <div class="quotas">
        {q.usage?.map((u) => {
          const share = u.share ?? 0;
          return (
            <div key={u.name} class="quota">
              <span>{u.name}</span>
              <span
                class="bar"
                role="meter"
                aria-label={u.name}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={Math.round(share * 100)}
              >
                <i
                  class={share > 1 ? "wait" : share > 0.9 ? "mixed" : "run"}
                  style={{ width: percent(Math.min(1, share)) }}
                />
              </span>
              <span class="num">
                <b>{u.used ?? 0}</b> of {u.quota}
                {share > 1 && `, ${percent(share - 1)} borrowed`}
                {u.free && <small>{u.free} free</small>}
              </span>
            </div>
          );
        })}
      </div>
      <div class="columns">
        <div hidden={q.hidden}>
          <h3>
            {plural(q.admitted?.length ?? 0, "job")} run{q.admitted?.length === 1 ? "s" : ""}
          </h3>
          <ul class="jobs">
            {q.admitted?.slice(0, 200).map((h) => (
              <li key={h.namespace + "/" + h.name}>
                <a href={jobHref(h)}>
                  {h.namespace}/{h.name}
                </a>
                <span class="dim">
                  {[h.pods && plural(h.pods, "pod"), ...Object.entries(h.resources ?? {}).map(([k, v]) => `${v} ${k}`)]
                    .filter(Boolean)
                    .join(", ")}
                </span>
                <span class="dim">
                  {h.since && `for ${since(h.since)}`}
                  {h.ends && `, ends in ${span(time(h.ends) - now.value)}`}
                </span>
              </li>
            ))}
          </ul>
        </div>
        <div>
          <h3>{count(Math.max(q.pending ?? 0, waiting.length))} wait</h3>
          <ol class="jobs">
            {(all ? waiting : waiting.slice(0, 12)).map((w) => (
              <li key={w.namespace + "/" + w.name} value={w.position}>
                <b class="position">{w.position}</b>
                <a href={jobHref(w)}>
                  {w.namespace}/{w.name}
                </a>
                <span class="dim">
                  waits <Age at={w.since} />
                  {w.priority ? `, priority ${w.priority}` : ""}
                </span>
                <span class="eta">
                  {w.eta ? (
                    <span title={`${clock(w.eta)}, if the jobs before it run until their deadlines`}>
                      {time(w.eta) > now.value ? `starts in ${span(time(w.eta) - now.value)}` : "starts now"}
                    </span>
                  ) : (
                    <span class="dim">start not known</span>
                  )}
                </span>
                <p>
                  <b>{w.reason}</b> {w.message}
                </p>
                {w.etaUnknown && <p>The start is not known: {w.etaUnknown}.</p>}
              </li>
            ))}
          </ol>
          {waiting.length > 12 && (
            <button class="plain" onClick={() => setAll(!all)}>
              {all ? "Fewer" : `All ${count(waiting.length)}`}
            </button>
          )}
        </div>
      </div>
    </section>
  );
}

const jobHref = (o: { namespace: string; name: string }) =>
  `/objects/FluxJob/${encodeURIComponent(o.namespace)}/${encodeURIComponent(o.name)}`;
