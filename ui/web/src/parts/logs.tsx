// Logs of up to eight containers, live and side by side.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { query } from "../api.ts";
import { openStream } from "../stream.ts";
import { may } from "../session.ts";
import type { Pod } from "../types.ts";
import { Empty } from "./bits.tsx";
import { Lines } from "./virtual.tsx";

const most = 8;
// What is kept: so many lines of each log, and so many characters of all logs together.
const keep = 10000;
const keepCharacters = 16e6;

interface Pane {
  lines: { text: string; tag: string }[];
  characters: number;
  end?: string;
}

// add adds a line to a pane, and trim drops the first lines of a pane that has too many.
function add(p: Pane, text: string, tag: string) {
  p.lines.push({ text, tag });
  p.characters += text.length;
}

function trim(p: Pane, characters: number) {
  let n = 0;
  for (; p.lines.length - n > keep || (p.characters > characters && n < p.lines.length - 1); n++)
    p.characters -= p.lines[n]!.text.length;
  p.lines.splice(0, n);
}

// Colour codes of terminals mean nothing here, and other control characters could hide text.
const plain = (s: string) => s.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, "").replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");

function watchLogs(namespace: string, targets: string[], previous: boolean) {
  const panes = signal<Pane[]>(targets.map(() => ({ lines: [], characters: 0 })));
  const next: Pane[] = targets.map(() => ({ lines: [], characters: 0 }));
  let scheduled = false;
  const changed = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      panes.value = next.map((p) => ({ ...p }));
    });
  };
  const stream = openStream("/api/stream/logs" + query({ namespace, pod: targets, previous: previous || undefined }), {
    reset: () => {
      next.forEach((p) => {
        p.lines = [];
        p.characters = 0;
        p.end = undefined;
      });
    },
    lines: (lines: { p: number; t?: string; s?: string }[]) => {
      for (const l of lines) if (next[l.p]) add(next[l.p]!, plain(l.s ?? ""), l.t ? l.t.slice(11, 19) : "");
      for (const p of next) trim(p, keepCharacters / next.length);
      changed();
    },
    end: (e: { p: number; message?: string }) => {
      if (next[e.p]) next[e.p]!.end = e.message || "The log has ended.";
      changed();
      // A log that has ended is not asked for again.
      if (next.every((p) => p.end !== undefined)) stream.close();
    },
  });
  return { panes, stream };
}

export function Logs({
  namespace,
  pods,
  running,
  refresh,
}: {
  namespace: string;
  pods: Pod[];
  running(is: boolean): void;
  refresh(): void;
}) {
  const all = pods.flatMap((p) =>
    (p.containers ?? []).filter((c) => c.state !== "waiting" || c.restarts).map((c) => `${p.name}/${c.name}`),
  );
  const main = pods.flatMap((p) =>
    (p.containers ?? [])
      .filter((c) => !c.init && (c.state !== "waiting" || c.restarts))
      .map((c) => `${p.name}/${c.name}`),
  );
  const [picked, setPicked] = useState<string[] | undefined>(undefined);
  const [previous, setPrevious] = useState(false);
  const [text, setText] = useState("");
  const [follow, setFollow] = useState(true);
  // The first choice stays when pods come later: they can be chosen then.
  const first = main.slice(0, 4);
  useEffect(() => {
    if (!picked && first.length) setPicked(first);
  }, [first.length > 0]);
  const targets = picked ?? first;
  const key = targets.join(" ") + previous;
  const logs = useMemo(() => (targets.length ? watchLogs(namespace, targets, previous) : undefined), [namespace, key]);
  const panes = logs?.panes.value ?? [];
  const over = !logs || panes.every((p) => p.end !== undefined);
  useEffect(() => () => logs?.stream.close(), [logs]);
  useEffect(() => {
    running(!over);
    return () => running(false);
  }, [over]);

  if (!may("get", "PodLog", namespace)) return <Empty>You may not read logs here.</Empty>;
  if (!all.length) return <Empty>No container has started yet.</Empty>;
  const toggle = (t: string) =>
    setPicked(targets.includes(t) ? targets.filter((x) => x !== t) : [...targets, t].slice(-most));
  return (
    <div class="logs">
      <div class="filters">
        <details class="menu">
          <summary>
            {targets.length} of {all.length} containers
          </summary>
          <div class="sheet">
            {all.slice(0, 400).map((t) => (
              <label key={t}>
                <input type="checkbox" checked={targets.includes(t)} onChange={() => toggle(t)} /> {t}
              </label>
            ))}
            {!over && <button onClick={refresh}>Look for new containers</button>}
          </div>
        </details>
        <input
          type="search"
          placeholder="Only lines with…"
          aria-label="Only lines with"
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={follow} onChange={() => setFollow(!follow)} /> Follow
        </label>
        <label>
          <input type="checkbox" checked={previous} onChange={() => setPrevious(!previous)} /> Previous
        </label>
      </div>
      <div class="panes" data-panes={targets.length}>
        {targets.map((t, i) => (
          <PaneView
            key={t}
            title={t}
            pane={panes[i]}
            text={text}
            follow={follow}
            up={() => setFollow(false)}
            problem={logs?.stream.state.value.problem}
          />
        ))}
      </div>
    </div>
  );
}

function PaneView({
  title,
  pane,
  text,
  follow,
  up,
  problem,
}: {
  title: string;
  pane?: Pane;
  text: string;
  follow: boolean;
  up(): void;
  problem?: string;
}) {
  const lines = text
    ? (pane?.lines ?? []).filter((l) => l.text.toLowerCase().includes(text.toLowerCase()))
    : (pane?.lines ?? []);
  return (
    <section class="pane" aria-label={`Log of ${title}`}>
      <h4 title={title}>{title}</h4>
      <Lines lines={lines} label={`Log of ${title}`} follow={follow} onScrolledUp={up} />
      {(pane?.end ?? problem) && <p class="dim">{pane?.end ?? problem}</p>}
    </section>
  );
}
