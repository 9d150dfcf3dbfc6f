// Lists that have only their visible rows in the document, so that 5,000 objects or 10,000 nodes cost what a screen shows.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

// useWindow says which rows of a scrolled element are visible.
function useWindow(rows: number, rowHeight: number) {
  const ref = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: 60 });
  useLayoutEffect(() => {
    const el = ref.current!;
    const measure = () => {
      const first = Math.max(0, Math.floor(el.scrollTop / rowHeight) - 6);
      const last = Math.ceil((el.scrollTop + el.clientHeight) / rowHeight) + 6;
      setRange((r) => (r.first === first && r.last === last ? r : { first, last }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(el);
    el.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      el.removeEventListener("scroll", measure);
    };
  }, [rowHeight, rows === 0]);
  return { ref, first: Math.min(range.first, Math.max(0, rows - 1)), last: Math.min(range.last, rows) };
}

interface GridProps {
  label: string;
  columns: { id: string; title: ComponentChildren; sort?: () => void; sorted?: "ascending" | "descending" }[];
  rows: number;
  rowHeight: number;
  keyOf(i: number): string;
  row(i: number): ComponentChildren;
  rowClass?(i: number): string;
  open(i: number): void;
  className?: string;
  minWidth?: string;
}

// Grid is a table of virtual rows. Arrow keys move through it, Enter opens a row.
export function Grid(p: GridProps) {
  const { ref, first, last } = useWindow(p.rows, p.rowHeight);
  const [active, setActive] = useState(-1);
  const id = useRef("grid-" + Math.random().toString(36).slice(2, 8)).current;
  const key = (e: KeyboardEvent) => {
    if (e.target !== ref.current) return;
    const page = Math.max(1, Math.floor(ref.current!.clientHeight / p.rowHeight) - 2);
    const to = ({ ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: p.rows - 1 } as
      Record<string, number>)[e.key];
    if (to !== undefined) {
      e.preventDefault();
      setActive(Math.max(0, Math.min(p.rows - 1, to)));
    } else if (e.key === "Enter" && active >= 0 && active < p.rows) p.open(active);
  };
  useEffect(() => {
    const el = ref.current!;
    if (active < 0) return;
    const head = p.rowHeight;
    if (active * p.rowHeight < el.scrollTop) el.scrollTop = active * p.rowHeight;
    else if ((active + 2) * p.rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = (active + 2) * p.rowHeight - el.clientHeight + head / 4;
  }, [active]);
  const items = [];
  for (let i = first; i < last; i++) {
    items.push(
      <div key={p.keyOf(i)} id={`${id}-${i}`} role="row" aria-rowindex={i + 2} aria-selected={i === active}
        class={`row ${p.rowClass?.(i) ?? ""} ${i === active ? "active" : ""}`}
        style={{ transform: `translateY(${i * p.rowHeight}px)`, height: `${p.rowHeight}px` }}
        onClick={(e) => { if (!(e.target as Element).closest("a, button, input")) { setActive(i); p.open(i); } }}>
        {p.row(i)}
      </div>);
  }
  return (
    <div ref={ref} class={`grid ${p.className ?? ""}`} role="grid" aria-label={p.label} aria-rowcount={p.rows + 1} tabIndex={0} onKeyDown={key}
      aria-activedescendant={active >= first && active < last ? `${id}-${active}` : undefined}>
      <div class="grid-inner" role="presentation" style={{ minWidth: p.minWidth ?? "" }}>
        <div class="row head" role="row" aria-rowindex={1}>
          {p.columns.map((c) => (
            <div key={c.id} role="columnheader" class={`c-${c.id}`} aria-sort={c.sorted ?? "none"}>
              {c.sort
                ? <button class="plain" onClick={c.sort}>{c.title}{c.sorted && <span aria-hidden="true">{c.sorted === "ascending" ? " ↑" : " ↓"}</span>}</button>
                : c.title}
            </div>))}
        </div>
        <div class="rows" role="rowgroup" style={{ height: `${p.rows * p.rowHeight}px` }}>{items}</div>
      </div>
    </div>
  );
}

// Lines shows text line by line: YAML and logs, of any length.
export function Lines(p: { lines: readonly { text: string; tag?: string; bad?: boolean }[]; label: string; follow?: boolean; onScrolledUp?(): void }) {
  const height = 18;
  const { ref, first, last } = useWindow(p.lines.length, height);
  const own = useRef(0);
  useLayoutEffect(() => {
    const el = ref.current!;
    if (p.follow) {
      el.scrollTop = el.scrollHeight;
      own.current = el.scrollTop;
    }
  });
  const scroll = () => {
    const el = ref.current!;
    if (p.follow && el.scrollTop < own.current - 30) p.onScrolledUp?.();
    own.current = el.scrollTop;
  };
  const items = [];
  for (let i = first; i < last; i++) {
    const l = p.lines[i]!;
    items.push(
      <div key={i} class={l.bad ? "line bad" : "line"} style={{ transform: `translateY(${i * height}px)` }}>
        {l.tag !== undefined && <span class="tag">{l.tag}</span>}{l.text || " "}
      </div>);
  }
  return (
    <div ref={ref} class="lines" tabIndex={0} role="log" aria-live="off" aria-label={p.label} onScroll={scroll}>
      <div class="lines-inner" style={{ height: `${p.lines.length * height}px` }}>{items}</div>
    </div>
  );
}
