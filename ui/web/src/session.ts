// Who looks, and what he may do. The server asks the API server with the viewer's own rights; this page only offers
// what it was told.
import { signal } from "@preact/signals";
import { ApiError, get, post, query, remove } from "./api.ts";
import { placeOf, route } from "./route.ts";
import type { Access, Kind, Session } from "./types.ts";

export const session = signal<Session | undefined>(undefined);
export const login = signal<{ kind: string; error: string } | undefined>(undefined);
export const access = signal<Access | undefined>(undefined);
export const failure = signal("");

// begin opens the session that the browser has already, or one with the token of the link, which it removes from the
// address. It sends the token only to a server that logs in by link: in a cluster, anyone could log the viewer in with a
// token of their own by a link.
export async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) history.replaceState(null, "", location.pathname + location.search);
  const open = async () => {
    try {
      return await get<Session>("/api/session");
    } catch (e) {
      if (!token || (e as ApiError).login !== "link") throw e;
      return post<Session>("/api/session", { token });
    }
  };
  if (
    await answered(async () => {
      session.value = await open();
    })
  )
    await welcome();
}

// A link with another token, opened where the page is open already, is no other page for the browser.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void begin();
});

export async function logIn(token: string) {
  try {
    session.value = await post<Session>("/api/session", { token });
  } catch (e) {
    login.value = { kind: "token", error: (e as Error).message };
    return;
  }
  await welcome();
}

export async function logOut() {
  await remove("/api/session");
  location.assign("/");
}

// welcome shows the page to whom the session is of. What another may do is forgotten.
async function welcome() {
  access.value = undefined;
  asked.clear();
  login.value = undefined;
  await answered(loadAccess);
}

// check asks whether the session still is one, after a stream has been refused. It is false if the viewer must log in.
// Where no login helps, it asks again until the server accepts the session. Streams that ask at a time share an answer.
export function check(): Promise<boolean> {
  checking ??= checked().finally(() => {
    checking = undefined;
  });
  return checking;
}
let checking: Promise<boolean> | undefined;

async function checked(): Promise<boolean> {
  for (let pause = 1000; ; pause = Math.min(2 * pause, 30000)) {
    try {
      session.value = await get<Session>("/api/session");
      failure.value = "";
      return true;
    } catch (e) {
      fail(e as ApiError);
      if (login.peek()) return false;
    }
    await new Promise((retry) => setTimeout(retry, pause));
  }
}

// answered repeats a request until the server has answered, and says meanwhile why it hasn't.
async function answered(request: () => Promise<void>): Promise<boolean> {
  for (;;) {
    try {
      await request();
      failure.value = "";
      return true;
    } catch (e) {
      fail(e as ApiError);
      const status = (e as ApiError).status;
      if (status >= 400 && status < 500) return false;
    }
    await new Promise((retry) => setTimeout(retry, 3000));
  }
}

function fail(e: ApiError) {
  if (e.status === 401 && e.login) login.value = { kind: e.login, error: e.message };
  else failure.value = e.message;
}

// The namespaces whose rights are known or asked for, the last ones at the end.
const asked = new Set<string>();
// most is how many namespaces the server answers for at a time, "" for all of them among these.
const most = 50;
let loaded = 0;

async function loadAccess() {
  const shown = placeOf(route.peek());
  for (const n of [...route.peek().params.getAll("namespace"), session.peek()?.namespace, shown]) if (n) asked.add(n);
  access.value = await get<Access>("/api/access" + query({ namespace: ["", ...[...asked].slice(1 - most)] }));
  loaded = Date.now();
}

// refresh asks again what the viewer may do, if the answer is older than a minute or proved wrong.
export async function refresh(wrong = false) {
  if (!access.peek() || (!wrong && Date.now() - loaded < 60_000)) return;
  try {
    await loadAccess();
  } catch {
    /* What is offered stays as it was; the API server decides in any case. */
  }
}

// ask adds the rights in a namespace that wasn't asked for yet.
async function ask(namespace: string) {
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
