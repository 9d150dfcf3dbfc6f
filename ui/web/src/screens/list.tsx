// All objects of all kinds. The filters are the address's, so that a list can be sent to a colleague.
import { computed } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { matches, orderOf, sorted, stateOf, watchObjects, type Order } from "../objects.ts";
import { count, plural } from "../format.ts";
import { go, hrefOf, param, paramList, setParams } from "../route.ts";
import { access, kinds } from "../session.ts";
import { query } from "../api.ts";
import type { Row, Source } from "../types.ts";
import { Grid } from "../parts/virtual.tsx";
import { Age, Empty, Progress, State } from "../parts/bits.tsx";
import { act, confirmed, offered } from "../parts/actions.tsx";
import { NamespacePicker, chosenNamespaces } from "../parts/namespaces.tsx";
import { Limited, Problem } from "../parts/problem.tsx";
import { capital } from "../format.ts";
import { phone } from "../phone.ts";

const columns: [Order, string][] = [
  ["name", "Name"],
  ["kind", "Kind"],
  ["namespace", "Namespace"],
  ["state", "State"],
  ["progress", "Progress"],
  ["age", "Age"],
];

export function ListScreen({ only }: { only?: string[] }) {
  const offeredKinds = only ?? kinds().map((k) => k.kind);
  const namespaces = chosenNamespaces();
  const key = JSON.stringify([offeredKinds, namespaces]);
  const objects = useMemo(() => watchObjects(offeredKinds, namespaces), [key]);
  useEffect(() => () => objects.stream.close(), [objects]);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());

  const view = useMemo(
    () =>
      computed(() => {
        const filter = {
          kinds: paramList("kind"),
          states: paramList("state"),
          labels: paramList("label"),
          text: param("text"),
        };
        const order = orderOf(param("sort"));
        const all = objects.rows.value;
        const byKind = new Map<string, number>(),
          byState = new Map<string, number>();
        const rows: Row[] = [];
        for (const r of all) {
          if (matches(r, { ...filter, kinds: [] })) byKind.set(r.kind, (byKind.get(r.kind) ?? 0) + 1);
          const its = stateOf(r);
          if (its && matches(r, { ...filter, states: [] })) byState.set(its, (byState.get(its) ?? 0) + 1);
          if (matches(r, filter)) rows.push(r);
        }
        return {
          filter,
          order,
          down: param("down") === "1",
          all: all.length,
          byKind,
          byState,
          rows: sorted(rows, order, param("down") === "1"),
        };
      }),
    [objects],
  );
  const v = view.value;
  const state = objects.stream.state.value;
  const nowhere = !namespaces.length && !access.value?.allNamespaces;

  const sort = (o: Order) => setParams({ sort: o, down: v.order === o && !v.down ? "1" : "" });
  const toggle = (list: string, value: string) => {
    const now = paramList(list);
    setParams({ [list]: now.includes(value) ? now.filter((x) => x !== value) : [...now, value] });
  };
  const chosen = v.rows.filter((r) => marked.has(r.uid));
  const mark = (uid: string) => {
    const next = new Set(marked);
    if (!next.delete(uid)) next.add(uid);
    setMarked(next);
  };

  return (
    <main class="screen list">
      <div class="filters" role="search">
        <NamespacePicker />
        <input
          type="search"
          name="text"
          placeholder="Search names and messages"
          aria-label="Search"
          value={v.filter.text}
          onInput={(e) => setParams({ text: e.currentTarget.value })}
        />
        <form
          class="labels"
          onSubmit={(e) => {
            e.preventDefault();
            const input = e.currentTarget.elements.namedItem("label") as HTMLInputElement;
            if (input.value.trim()) toggle("label", input.value.trim());
            input.value = "";
          }}
        >
          <input name="label" placeholder="label=value" aria-label="Filter by label" size={12} />
        </form>
        {v.filter.labels.map((l) => (
          <button key={l} class="chip on" aria-label={`Remove the filter ${l}`} onClick={() => toggle("label", l)}>
            {l} ×
          </button>
        ))}
        <span class="spacer" />
        <span class="total" role="status">
          {v.rows.length === v.all ? plural(v.all, "object") : `${count(v.rows.length)} of ${plural(v.all, "object")}`}
        </span>
      </div>
      <div class="filters chips">
        <Chips name="kind" counts={v.byKind} on={v.filter.kinds} toggle={toggle} />
        <span class="rule" />
        <Chips name="state" counts={v.byState} on={v.filter.states} toggle={toggle} />
      </div>
      <Problem text={state.problem} />
      {chosen.length > 0 && <Bulk rows={chosen} clear={() => setMarked(new Set())} />}
      <Grid
        label="Objects"
        className="objects"
        rowHeight={phone.value ? 46 : 34}
        rows={v.rows.length}
        columns={[
          { id: "mark", title: "" },
          ...columns.map(([id, title]) => ({
            id,
            title,
            sort: () => sort(id),
            sorted: v.order === id ? (v.down ? ("descending" as const) : ("ascending" as const)) : undefined,
          })),
          { id: "message", title: "Reason" },
        ]}
        keyOf={(i) => v.rows[i]!.uid}
        open={(i) => go(hrefOf(v.rows[i]!))}
        row={(i) => <Cells row={v.rows[i]!} marked={marked.has(v.rows[i]!.uid)} mark={mark} />}
      />
      {!v.rows.length && !state.problem && (
        <Empty>
          {nowhere
            ? "Choose a namespace: you may not list all of them."
            : !state.synced
              ? "Loading…"
              : v.all
                ? "No object passes the filters."
                : "There is nothing yet. Submit something, or look into another namespace."}
        </Empty>
      )}
      <Limited sources={state.sources} />
      {!nowhere && <Unseen sources={state.sources.filter((s) => s.state === "forbidden")} />}
    </main>
  );
}

// Unseen says what isn't shown, and where.
function Unseen({ sources }: { sources: Source[] }) {
  if (!sources.length) return null;
  const places = [...new Set(sources.map((s) => s.namespace ?? ""))].sort();
  return (
    <p class="footnote">
      Not shown, since you may not list them:{" "}
      {places
        .map((n) => {
          const names = sources.filter((s) => (s.namespace ?? "") === n).map((s) => s.kind);
          return names.sort().join(", ") + (n && ` in ${n}`);
        })
        .join("; ")}
      .
    </p>
  );
}

function Chips(p: {
  name: string;
  counts: Map<string, number>;
  on: string[];
  toggle(list: string, value: string): void;
}) {
  const names = [...new Set([...p.counts.keys(), ...p.on])].sort();
  return (
    <div class="chipset" role="group" aria-label={`Filter by ${p.name}`}>
      {names.map((n) => (
        <button
          key={n}
          class={p.on.includes(n) ? "chip on" : "chip"}
          aria-pressed={p.on.includes(n)}
          onClick={() => p.toggle(p.name, n)}
        >
          {n} <small>{count(p.counts.get(n) ?? 0)}</small>
        </button>
      ))}
    </div>
  );
}

function Cells({ row, marked, mark }: { row: Row; marked: boolean; mark(uid: string): void }) {
  return (
    <>
      <div role="gridcell" class="c-mark">
        <input type="checkbox" aria-label={`Mark ${row.name}`} checked={marked} onChange={() => mark(row.uid)} />
      </div>
      <div role="gridcell" class="c-name">
        <a href={hrefOf(row)} title={row.name}>
          {row.name}
        </a>
        {row.paused && <span class="flag">paused</span>}
        {row.suspended && row.state !== "Suspended" && <span class="flag">suspended</span>}
      </div>
      <div role="gridcell" class="c-kind">
        {row.kind}
      </div>
      <div role="gridcell" class="c-namespace">
        {row.namespace}
      </div>
      <div role="gridcell" class="c-state">
        {stateOf(row) && <State state={stateOf(row)} tone={row.tone} />}
      </div>
      <div role="gridcell" class="c-progress">
        <Progress row={row} />
      </div>
      <div role="gridcell" class="c-age">
        <Age at={row.created} />
      </div>
      <div role="gridcell" class="c-message" title={row.message}>
        <b>{row.reason}</b> {row.message}
      </div>
    </>
  );
}

// Bulk acts on the marked rows, each on its own; two flows of a namespace can be compared.
function Bulk({ rows, clear }: { rows: Row[]; clear(): void }) {
  const verbs = [...new Set(rows.flatMap(offered))];
  const [a, b] = rows;
  const comparable =
    rows.length === 2 && a!.kind === "JobFlow" && b!.kind === "JobFlow" && a!.namespace === b!.namespace;
  return (
    <div class="filters bulk" role="group" aria-label="Actions on marked objects">
      <b>{plural(rows.length, "object")} marked</b>
      {verbs.map((verb) => {
        const able = rows.filter((r) => offered(r).includes(verb));
        return (
          <button
            key={verb}
            data-action={verb}
            onClick={() => confirmed(verb, plural(able.length, "object"), () => able.forEach((r) => void act(verb, r)))}
          >
            {capital(verb)} {able.length < rows.length ? able.length : ""}
          </button>
        );
      })}
      {comparable && (
        <a class="button" href={"/compare" + query({ namespace: a!.namespace, a: a!.name, b: b!.name })}>
          Compare
        </a>
      )}
      <button class="plain" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
