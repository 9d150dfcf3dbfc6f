// What a viewer may do to an object. An action is offered if it makes sense in the object's state, which the server
// says, and if the viewer has the right.
import { ApiError, post } from "../api.ts";
import { capital } from "../format.ts";
import { hrefOf } from "../route.ts";
import { may, refresh } from "../session.ts";
import type { ObjectName, Row } from "../types.ts";
import { note, question } from "./bits.tsx";

const rightFor = (verb: string) => (verb === "delete" ? "delete" : verb === "rerun" ? "create" : "patch");

export function offered(row: Row): string[] {
  const verbs = new Set(row.actions);
  if (!row.deleting) verbs.add("delete");
  return [...verbs].filter((verb) => may(rightFor(verb), row.kind, row.namespace));
}

const drastic: Record<string, string> = {
  delete: "Delete this object and everything below it? This can't be undone.",
  terminate: "Terminate it? What runs is stopped and counts as failed.",
};

export async function act(verb: string, row: Row, node?: string): Promise<void> {
  try {
    const answer = await post<{ changed?: boolean; message?: string; created?: { namespace: string; name: string } }>(
      "/api/actions",
      {
        verb,
        kind: row.kind,
        namespace: row.namespace,
        name: row.name,
        uid: row.uid,
        node,
      },
    );
    const created = answer.created;
    note(
      created ? `Created ${row.kind} ${created.name}` : `${row.kind} ${row.name}: ${answer.message || verb}`,
      false,
      created && hrefOf({ kind: row.kind, ...created } as ObjectName),
    );
  } catch (e) {
    note(`${row.kind} ${row.name}: ${(e as ApiError).message}`, true);
    if ((e as ApiError).status === 403) void refresh(true);
  }
}

export function confirmed(verb: string, name: string, yes: () => void) {
  const text = drastic[verb];
  if (!text) yes();
  else question.value = { text: `${name}: ${text}`, button: capital(verb), yes };
}

export function Actions({ row }: { row: Row }) {
  const verbs = offered(row);
  if (!verbs.length) return null;
  return (
    <div class="buttons" role="group" aria-label="Actions">
      {verbs.map((verb) => (
        <button
          key={verb}
          data-action={verb}
          class={drastic[verb] ? "danger" : ""}
          onClick={() => confirmed(verb, `${row.kind} ${row.name}`, () => void act(verb, row))}
        >
          {capital(verb)}
        </button>
      ))}
    </div>
  );
}
