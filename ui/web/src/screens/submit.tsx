// Submits an object: a form made of the CRD's schema, or YAML. The API server validates both before anything is
// created.
import { useEffect, useState } from "preact/hooks";
import { ApiError, get, post, query } from "../api.ts";
import { go, hrefOf, param, setParams } from "../route.ts";
import { kinds, may, session } from "../session.ts";
import type { FieldError, Schema } from "../types.ts";
import { Empty, note, Tabs } from "../parts/bits.tsx";
import { Field } from "../parts/form.tsx";
import { chosenNamespaces } from "../parts/namespaces.tsx";
import { dump, load } from "../yaml.ts";

type Value = Record<string, any>;

export function SubmitScreen() {
  const namespace = chosenNamespaces()[0] || session.value?.namespace || "default";
  const offered = kinds().filter((k) => may("create", k.kind, k.namespaced ? namespace : ""));
  const kind = offered.find((k) => k.kind === param("kind")) ?? offered[0];
  const [schema, setSchema] = useState<Schema | undefined>(undefined);
  const [value, setValue] = useState<Value>({});
  const [yaml, setYaml] = useState("");
  const [mode, setMode] = useState("form");
  const [errors, setErrors] = useState<FieldError[]>([]);
  const [said, say] = useState<{ text: string; bad: boolean } | undefined>(undefined);
  useEffect(() => {
    if (!kind) return;
    setSchema(undefined);
    setErrors([]);
    say(undefined);
    get<{ schema: Schema; example?: string }>("/api/schema" + query({ kind: kind.kind })).then(
      (s) => {
        let v: Value = {};
        try {
          v = (s.example && (load(s.example) as Value)) || {};
        } catch {
          /* an example that isn't YAML is no reason to show no form */
        }
        v = {
          apiVersion: kind.apiVersion,
          kind: kind.kind,
          ...v,
          metadata: { ...v.metadata, name: v.metadata?.name ?? "" },
        };
        if (kind.namespaced) v.metadata.namespace = namespace;
        setSchema(s.schema);
        setValue(v);
        setYaml(dump(v));
      },
      (e: Error) => say({ text: e.message, bad: true }),
    );
  }, [kind?.kind, namespace]);

  if (!kind)
    return (
      <main class="screen">
        <Empty>You may not create anything in the namespace {namespace}.</Empty>
      </main>
    );

  const change = (to: string) => {
    if (to === "yaml") setYaml(dump(value));
    else {
      try {
        const v = load(yaml);
        if (!v || typeof v !== "object") throw new Error("this is no object");
        setValue(v as Value);
      } catch (e) {
        say({ text: `The YAML can't be read: ${(e as Error).message}`, bad: true });
        return;
      }
    }
    say(undefined);
    setMode(to);
  };
  const send = async (dryRun: boolean) => {
    setErrors([]);
    say(undefined);
    try {
      const answer = await post<{ object: Value; warnings?: string[] }>(
        "/api/submit" + query({ dryRun: dryRun || undefined }),
        mode === "yaml" ? { yaml } : { object: value },
      );
      const warnings = (answer.warnings ?? []).join(" ");
      if (dryRun) say({ text: `The API server would accept it. ${warnings}`, bad: false });
      else {
        const m = answer.object.metadata;
        note(`Created ${answer.object.kind} ${m.name}. ${warnings}`);
        go(hrefOf({ kind: answer.object.kind, namespace: m.namespace, name: m.name }));
      }
    } catch (e) {
      say({ text: (e as ApiError).message, bad: true });
      setErrors(e instanceof ApiError ? e.fields : []);
    }
  };
  const at = (path: string) =>
    errors
      .filter((e) => e.field === path)
      .map((e) => e.message)
      .join(" ");
  return (
    <main class="screen submit">
      <div class="filters">
        <label>
          Kind{" "}
          <select aria-label="Kind" value={kind.kind} onChange={(e) => setParams({ kind: e.currentTarget.value })}>
            {offered.map((k) => (
              <option key={k.kind}>{k.kind}</option>
            ))}
          </select>
        </label>
        <Tabs
          label="How"
          at={mode}
          pick={change}
          tabs={[
            { id: "form", title: "Form" },
            { id: "yaml", title: "YAML" },
          ]}
        />
        <span class="spacer" />
        <button onClick={() => void send(true)} data-check>
          Check
        </button>
        <button class="primary" onClick={() => void send(false)} data-create>
          Create
        </button>
      </div>
      {said && (
        <p class={said.bad ? "message bad" : "message good"} role="status">
          {said.text}
        </p>
      )}
      {errors.length > 0 && (
        <ul class="field-errors">
          {errors.map((e, i) => (
            <li key={i}>
              <b>{e.field}</b> {e.message}
            </li>
          ))}
        </ul>
      )}
      <div class="scroll">
        {!schema ? (
          <Empty>Loading…</Empty>
        ) : mode === "yaml" ? (
          <textarea
            class="code"
            aria-label="YAML"
            spellcheck={false}
            value={yaml}
            onInput={(e) => setYaml(e.currentTarget.value)}
          />
        ) : (
          <form class="form" onSubmit={(e) => e.preventDefault()}>
            <div class="field">
              <label for="f-name">
                name<em>required</em>
              </label>
              <input
                id="f-name"
                name="metadata.name"
                value={value.metadata?.name ?? ""}
                onInput={(e) => setValue({ ...value, metadata: { ...value.metadata, name: e.currentTarget.value } })}
              />
              <Problem text={at("metadata.name")} />
            </div>
            {kind.namespaced && (
              <div class="field">
                <label for="f-ns">namespace</label>
                <input
                  id="f-ns"
                  value={value.metadata?.namespace ?? ""}
                  onInput={(e) =>
                    setValue({ ...value, metadata: { ...value.metadata, namespace: e.currentTarget.value } })
                  }
                />
              </div>
            )}
            <Field
              schema={schema}
              name="spec"
              path="spec"
              value={value.spec}
              errors={errors}
              required
              open
              set={(spec) => setValue({ ...value, spec })}
            />
          </form>
        )}
      </div>
    </main>
  );
}

const Problem = ({ text }: { text: string }) =>
  text ? (
    <p class="error" role="alert">
      {text}
    </p>
  ) : null;
