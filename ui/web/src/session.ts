// Who looks, and what he may do. The server asks the API server with the viewer's own rights; this page only offers what it was told.
import { signal } from "@preact/signals";
import { ApiError, get, post, query, remove } from "./api.ts";
import type { Access, Kind, Session } from "./types.ts";

export const session = signal<Session | undefined>(undefined);
export const login = signal<{ kind: string; error: string } | undefined>(undefined);
export const access = signal<Access | undefined>(undefined);
export const failure = signal("");

// begin opens the session: with the token of the link, which it removes from the address, or with what the browser has already.
export async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) history.replaceState(null, "", location.pathname + location.search);
  try {
    session.value = token ? await post<Session>("/api/session", { token }) : await get<Session>("/api/session");
    login.value = undefined;
    await loadAccess();
  } catch (e) {
    fail(e);
  }
}

export async function logIn(token: string) {
  try {
    session.value = await post<Session>("/api/session", { token });
    login.value = undefined;
    await loadAccess();
  } catch (e) {
    login.value = { kind: "token", error: (e as Error).message };
  }
}

export async function logOut() {
  await remove("/api/session");
  location.assign("/");
}

function fail(e: unknown) {
  if (e instanceof ApiError && e.status === 401) login.value = { kind: e.login || "token", error: e.message };
  else failure.value = (e as Error).message;
}

const asked = new Set<string>();

async function loadAccess() {
  const namespaces = new URLSearchParams(location.search).getAll("namespace");
  namespaces.forEach((n) => asked.add(n));
  failure.value = "";
  try {
    access.value = await get<Access>("/api/access" + query({ namespace: namespaces }));
  } catch (e) {
    failure.value = (e as Error).message;
    setTimeout(loadAccess, 3000);
  }
}

// ask adds the rights in a namespace that wasn't asked for yet.
export async function ask(namespace: string) {
  if (!namespace || asked.has(namespace)) return;
  asked.add(namespace);
  try {
    const more = await get<Access>("/api/access" + query({ namespace }));
    const known = new Map((access.peek()?.kinds ?? []).map((k) => [k.kind, k]));
    for (const k of more.kinds ?? []) {
      known.set(k.kind, { ...k, verbs: { ...known.get(k.kind)?.verbs, ...k.verbs } });
    }
    access.value = { ...access.peek(), kinds: [...known.values()] };
  } catch {
    asked.delete(namespace);
  }
}

// may says whether the viewer may do a verb. While the server hasn't answered, he may not.
export function may(verb: string, kind: string, namespace = ""): boolean {
  const k = access.value?.kinds?.find((k) => k.kind === kind);
  if (!k) return false;
  const all = k.verbs?.["*"]?.includes(verb) ?? false;
  if (all || !namespace) return all;
  const here = k.verbs?.[namespace];
  if (!here) void ask(namespace);
  return here?.includes(verb) ?? false;
}

const others = new Set(["Pod", "PodLog", "Event", "Job", "Node"]);
const operators = new Set(["JobFlow", "JobTemplate", "DaemonJob", "ReplicaJob", "MiniCluster", "FluxJob", "FluxSetup"]);

// kinds are those with screens of their own; clusters are the kinds of other operators that are built on DSOI.
export const kinds = (): Kind[] => (access.value?.kinds ?? []).filter((k) => !others.has(k.kind));
export const clusterKinds = (): Kind[] => kinds().filter((k) => !operators.has(k.kind));
