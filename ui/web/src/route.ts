// The address is the state of the page: the path says which screen, the query its filters. Going there again shows the
// same.
import { signal } from "@preact/signals";

export interface Route {
  path: string[];
  params: URLSearchParams;
}

const read = (): Route => ({
  path: location.pathname.split("/").filter(Boolean).map(decode),
  params: new URLSearchParams(location.search),
});

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>(read());

export function go(url: string, replace = false) {
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  route.value = read();
}

// setParams changes parameters of the address and keeps the others; an empty value removes one.
export function setParams(change: Record<string, string | string[]>, replace = true) {
  const params = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) {
    params.delete(name);
    for (const v of Array.isArray(value) ? value : [value]) if (v) params.append(name, v);
  }
  const text = params.toString();
  go(location.pathname + (text ? "?" + text : ""), replace);
}

export function param(name: string): string {
  return route.value.params.get(name) ?? "";
}
export function paramList(name: string): string[] {
  return route.value.params.getAll(name);
}

// placeOf is the namespace of the object that a route shows.
export function placeOf(r: Route): string | undefined {
  const place = r.path[0] === "flows" ? r.path[1] : r.path[0] === "objects" ? r.path[2] : undefined;
  return place === "-" ? undefined : place;
}

const path = (...parts: string[]) => "/" + parts.map(encodeURIComponent).join("/");

// hrefOf is where an object is shown. An object without a namespace has "-" in its place.
export function hrefOf(o: { kind: string; namespace?: string; name: string }): string {
  return o.kind === "JobFlow"
    ? path("flows", o.namespace ?? "-", o.name)
    : path("objects", o.kind, o.namespace ?? "-", o.name);
}

addEventListener("popstate", () => {
  route.value = read();
});

// Links of this page are followed without loading it again.
addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const a = (e.target as Element | null)?.closest?.("a");
  if (!a || a.hash || a.target || a.origin !== location.origin || a.hasAttribute("download")) return;
  e.preventDefault();
  go(a.pathname + a.search);
});
