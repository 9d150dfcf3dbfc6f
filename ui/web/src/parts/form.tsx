// A field of a form, of an OpenAPI schema. Only fields that are set or required are shown; the others are added by name, since a pod's template
// alone has hundreds.
import { useState } from "preact/hooks";
import type { FieldError, Schema } from "../types.ts";

interface Props {
  schema: Schema;
  name: string;
  path: string;
  value: any;
  errors: FieldError[];
  required?: boolean;
  open?: boolean;
  set(value: any): void;
  remove?(): void;
}

const idOf = (path: string) => "f-" + path.replace(/[^\w]/g, "-");
// The first sentence of a description says enough beside a field; the rest is in its title.
const brief = (s = "") => s.replace(/\s+/g, " ").match(/^.{0,180}?[.:](?=\s|$)/)?.[0] ?? s.slice(0, 180);

// empty is the value that a field starts with.
function empty(s: Schema): any {
  if (s.default !== undefined) return structuredClone(s.default);
  if (s.type === "object" || s.properties) {
    const o: Record<string, any> = {};
    for (const r of s.required ?? []) if (s.properties?.[r]) o[r] = empty(s.properties[r]);
    return o;
  }
  if (s.type === "array") return [];
  if (s.type === "boolean") return true;
  if (s.type === "integer" || s.type === "number") return s.minimum ?? 0;
  return s.enum?.[0] ?? "";
}

export function Field(p: Props) {
  const s = p.schema;
  const mine = p.errors.filter((e) => e.field === p.path);
  const messages = mine.map((e, i) => <p key={i} class="error" role="alert">{e.message}</p>);
  if (s.properties) return <Properties {...p} messages={messages} />;
  if (s.type === "array" && s.items) return <List {...p} messages={messages} />;
  if (s.type === "object" && s.additionalProperties && typeof s.additionalProperties === "object") return <Pairs {...p} messages={messages} />;
  return (
    <div class="field">
      <label for={idOf(p.path)} title={s.description}>{p.name}{p.required && <em>required</em>}</label>
      <Input {...p} />
      {p.remove && <button type="button" class="plain" aria-label={`Remove ${p.name}`} onClick={p.remove}>×</button>}
      {s.description && <p class="hint" title={s.description}>{brief(s.description)}</p>}
      {messages}
    </div>
  );
}

function Input({ schema: s, path, value, set }: Props) {
  const id = idOf(path);
  if (s.enum) {
    return <select id={id} value={value ?? ""} onChange={(e) => set(e.currentTarget.value || undefined)}>
      <option value="" />{s.enum.map((v) => <option key={String(v)} value={String(v)}>{String(v)}</option>)}</select>;
  }
  if (s.type === "boolean") return <input id={id} type="checkbox" checked={!!value} onChange={(e) => set(e.currentTarget.checked)} />;
  if (s.type === "integer" || s.type === "number") {
    return <input id={id} type="number" min={s.minimum} max={s.maximum} step={s.type === "integer" ? 1 : "any"} value={value ?? ""}
      onInput={(e) => set(e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value))} />;
  }
  if (s["x-kubernetes-int-or-string"]) {
    return <input id={id} value={value ?? ""} onInput={(e) => set(/^-?\d+$/.test(e.currentTarget.value) ? Number(e.currentTarget.value) : e.currentTarget.value)} />;
  }
  if (s.type === "string") {
    const text = String(value ?? "");
    return text.includes("\n") || text.length > 60
      ? <textarea id={id} rows={Math.min(12, text.split("\n").length + 1)} value={text} onInput={(e) => set(e.currentTarget.value)} />
      : <input id={id} value={text} onInput={(e) => set(e.currentTarget.value)} />;
  }
  return <Json id={id} value={value} set={set} />;
}

// Json edits what the schema leaves open. A text that isn't JSON yet stays in the field and changes nothing.
function Json({ id, value, set }: { id: string; value: any; set(v: any): void }) {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [bad, setBad] = useState(false);
  return <textarea id={id} class="code small" aria-invalid={bad} rows={3} value={text} onInput={(e) => {
    const t = e.currentTarget.value;
    setText(t);
    try {
      set(t.trim() === "" ? undefined : JSON.parse(t));
      setBad(false);
    } catch {
      setBad(true);
    }
  }} />;
}

type Inner = Props & { messages: preact.ComponentChildren };

function Box(p: Inner & { summary?: string; children: preact.ComponentChildren }) {
  const inside = p.errors.some((e) => e.field?.startsWith(p.path));
  const [open, setOpen] = useState(!!p.open || inside);
  return (
    <details class="box" open={open || inside} onToggle={(e) => { if (e.target === e.currentTarget) setOpen(e.currentTarget.open); }}>
      <summary title={p.schema.description}><b>{p.name}</b>{p.required && <em>required</em>}{p.summary && <small>{p.summary}</small>}
        {p.remove && <button type="button" class="plain" aria-label={`Remove ${p.name}`} onClick={(e) => { e.preventDefault(); p.remove!(); }}>×</button>}</summary>
      {(open || inside) && <div class="inside">{p.schema.description && <p class="hint">{brief(p.schema.description)}</p>}{p.messages}{p.children}</div>}
    </details>
  );
}

function Properties(p: Inner) {
  const value: Record<string, any> = p.value ?? {};
  const all = p.schema.properties!;
  const required = p.schema.required ?? [];
  const shown = Object.keys(all).filter((k) => k in value || required.includes(k))
    .sort((a, b) => Number(b === "name") - Number(a === "name") || Number(required.includes(b)) - Number(required.includes(a)));
  const more = Object.keys(all).filter((k) => !shown.includes(k)).sort();
  const set = (k: string, v: any) => {
    const next = { ...value };
    if (v === undefined) delete next[k];
    else next[k] = v;
    p.set(next);
  };
  return (
    <Box {...p} summary={typeof value.name === "string" ? value.name : ""}>
      {shown.map((k) => <Field key={k} schema={all[k]!} name={k} path={`${p.path}.${k}`} value={value[k]} errors={p.errors} required={required.includes(k)}
        open={shown.length < 4} set={(v) => set(k, v)} remove={required.includes(k) ? undefined : () => set(k, undefined)} />)}
      {more.length > 0 && <select class="add" aria-label={`Add a field to ${p.name}`} value="" onChange={(e) => {
        const k = e.currentTarget.value;
        e.currentTarget.value = "";
        if (k) set(k, empty(all[k]!));
      }}><option value="">Add a field…</option>{more.map((k) => <option key={k} value={k} title={brief(all[k]!.description)}>{k}</option>)}</select>}
    </Box>
  );
}

function List(p: Inner) {
  const list: any[] = Array.isArray(p.value) ? p.value : [];
  const item = p.schema.items!;
  return (
    <Box {...p} open={p.open || list.length < 8} summary={`${list.length}`}>
      {list.map((v, i) => <Field key={i} schema={item} name={`${i + 1}`} path={`${p.path}[${i}]`} value={v} errors={p.errors} open={list.length < 3}
        set={(n) => p.set(list.map((o, k) => (k === i ? n : o)))} remove={() => p.set(list.filter((_, k) => k !== i))} />)}
      <button type="button" class="add" onClick={() => p.set([...list, empty(item)])}>Add to {p.name}</button>
    </Box>
  );
}

function Pairs(p: Inner) {
  const entries = Object.entries((p.value ?? {}) as Record<string, any>);
  const item = p.schema.additionalProperties as Schema;
  return (
    <Box {...p} summary={`${entries.length}`}>
      {entries.map(([k, v]) => <Field key={k} schema={item} name={k} path={`${p.path}.${k}`} value={v} errors={p.errors} set={(n) => p.set({ ...p.value, [k]: n })}
        remove={() => { const next = { ...p.value }; delete next[k]; p.set(next); }} />)}
      <span class="add-pair"><input placeholder="key" aria-label={`New key of ${p.name}`} onKeyDown={(e) => {
        if (e.key !== "Enter") return;
        e.preventDefault();
        const k = e.currentTarget.value.trim();
        if (k && !(k in (p.value ?? {}))) p.set({ ...p.value, [k]: empty(item) });
        e.currentTarget.value = "";
      }} /> <small>and Enter</small></span>
    </Box>
  );
}
