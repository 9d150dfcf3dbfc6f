// Small parts that every screen uses.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { clock, count, since, toneOf } from "../format.ts";
import type { Counts, Row, Tone } from "../types.ts";

export function State({ state, tone, title }: { state?: string; tone?: Tone; title?: string }) {
  return (
    <span class={`state ${toneOf(tone)}`} title={title}>
      <i aria-hidden="true" />
      {state || "Pending"}
    </span>
  );
}

export function Age({ at }: { at?: string }) {
  return at ? (
    <time dateTime={at} title={clock(at)}>
      {since(at)}
    </time>
  ) : null;
}

export function Progress({ row }: { row: Pick<Row, "done" | "total" | "failed" | "tone"> }) {
  const total = row.total ?? 0,
    done = row.done ?? 0,
    failed = row.failed ?? 0;
  if (!total) return null;
  const good = Math.max(0, Math.min(1, (done - failed) / total));
  return (
    <span
      class="progress"
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={done}
      title={failed ? `${failed} failed` : ""}
    >
      <span class="bar">
        <i class={failed ? "mixed" : toneOf(row.tone)} style={{ width: `${good * 100}%` }} />
        {failed > 0 && <i class="bad" style={{ width: `${Math.min(1, failed / total) * 100}%` }} />}
      </span>
      <span class="num">
        {count(done)}/{count(total)}
      </span>
    </span>
  );
}

const countNames: [keyof Counts, string][] = [
  ["failed", "failed"],
  ["running", "running"],
  ["suspended", "waiting"],
  ["succeeded", "succeeded"],
  ["skipped", "skipped"],
  ["pending", "pending"],
];

// CountsBar says how many nodes are in which state: numbers before pictures.
export function CountsBar({ counts }: { counts?: Counts }) {
  if (!counts?.total) return null;
  return (
    <div class="counts">
      <div class="stack" aria-hidden="true">
        {countNames.map(([k, c]) => (counts[k] ? <i key={k} class={c} style={{ flexGrow: counts[k] }} /> : null))}
      </div>
      <ul>
        <li>
          <b>{count(counts.total)}</b> {counts.total === 1 ? "node" : "nodes"}
        </li>
        {countNames.map(([k, c]) =>
          counts[k] ? (
            <li key={k}>
              <i class={`dot ${c}`} aria-hidden="true" />
              <b>{count(counts[k]!)}</b> {k}
            </li>
          ) : null,
        )}
      </ul>
    </div>
  );
}

export function Tabs({
  tabs,
  at,
  pick,
  label,
}: {
  tabs: { id: string; title: ComponentChildren }[];
  at: string;
  pick(id: string): void;
  label: string;
}) {
  // An address may ask for a tab that there isn't: it shows the first.
  const i = Math.max(
    0,
    tabs.findIndex((t) => t.id === at),
  );
  const key = (e: KeyboardEvent) => {
    const to = e.key === "ArrowRight" ? i + 1 : e.key === "ArrowLeft" ? i - 1 : -9;
    if (to < -1) return;
    const next = tabs[(to + tabs.length) % tabs.length]!;
    pick(next.id);
    (e.currentTarget as Element).querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={key}>
      {tabs.map((t, k) => (
        <button
          key={t.id}
          role="tab"
          data-tab={t.id}
          aria-selected={k === i}
          tabIndex={k === i ? 0 : -1}
          onClick={() => pick(t.id)}
        >
          {t.title}
        </button>
      ))}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

// A note stands in the corner for a while: what an action did, or why it did not.
export interface Note {
  id: number;
  text: string;
  bad: boolean;
  href?: string;
}
export const notes = signal<Note[]>([]);
let noteId = 0;

export function note(text: string, bad = false, href?: string) {
  const n = { id: ++noteId, text, bad, href };
  notes.value = [...notes.peek().slice(-3), n];
  setTimeout(
    () => {
      notes.value = notes.peek().filter((o) => o !== n);
    },
    bad ? 12000 : 6000,
  );
}

export function Notes() {
  return (
    <div class="notes" role="status" aria-live="polite">
      {notes.value.map((n) => (
        <div key={n.id} class={n.bad ? "note bad" : "note"}>
          {n.href ? <a href={n.href}>{n.text}</a> : n.text}
          <button
            class="plain"
            aria-label="Dismiss"
            onClick={() => {
              notes.value = notes.peek().filter((o) => o !== n);
            }}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

// Confirm asks before something that can't be undone.
export const question = signal<{ text: string; button: string; yes(): void } | undefined>(undefined);

export function Confirm() {
  const ref = useRef<HTMLDialogElement>(null);
  const q = question.value;
  useLayoutEffect(() => {
    if (q) ref.current?.showModal();
    else ref.current?.close();
  }, [q]);
  return (
    <dialog
      ref={ref}
      onClose={() => {
        question.value = undefined;
      }}
      aria-label="Confirm"
    >
      {q && (
        <>
          <p>{q.text}</p>
          <div class="buttons">
            <button
              onClick={() => {
                question.value = undefined;
              }}
            >
              Cancel
            </button>
            <button
              class="danger"
              data-confirm
              onClick={() => {
                question.value = undefined;
                q.yes();
              }}
            >
              {q.button}
            </button>
          </div>
        </>
      )}
    </dialog>
  );
}
