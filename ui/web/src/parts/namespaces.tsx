// The choice of namespaces, kept in the address. A viewer who may not list namespaces types their names.
import { paramList, setParams } from "../route.ts";
import { access, session } from "../session.ts";

// chosenNamespaces are those of the address; a viewer who may not see all of them starts in the namespace of his
// context.
export function chosenNamespaces(): string[] {
  const chosen = paramList("namespace");
  if (chosen.length || access.value?.allNamespaces) return chosen;
  return session.value?.namespace ? [session.value.namespace] : [];
}

export function NamespacePicker() {
  const chosen = paramList("namespace");
  const shown = chosenNamespaces();
  const known = access.value?.namespaces ?? [];
  const add = (name: string) => {
    if (!name || chosen.includes(name)) return;
    setParams({ namespace: [...chosen, name] });
  };
  return (
    <div class="namespaces" role="group" aria-label="Namespaces">
      {known.length > 0 ? (
        <select
          aria-label="Add a namespace"
          value=""
          onChange={(e) => {
            add(e.currentTarget.value);
            e.currentTarget.value = "";
          }}
        >
          <option value="">{shown.length ? "Add a namespace…" : "All namespaces"}</option>
          {known
            .filter((n) => !chosen.includes(n))
            .map((n) => (
              <option key={n} value={n}>
                {n}
              </option>
            ))}
        </select>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            const input = e.currentTarget.elements.namedItem("add-namespace") as HTMLInputElement;
            add(input.value.trim());
            input.value = "";
          }}
        >
          <input name="add-namespace" placeholder="Namespace" aria-label="Add a namespace" size={12} />
        </form>
      )}
      {shown.map((n) =>
        chosen.includes(n) ? (
          <button
            key={n}
            class="chip on"
            aria-label={`Leave the namespace ${n}`}
            onClick={() => setParams({ namespace: chosen.filter((c) => c !== n) })}
          >
            {n} ×
          </button>
        ) : (
          <span key={n} class="chip on">
            {n}
          </span>
        ),
      )}
    </div>
  );
}
