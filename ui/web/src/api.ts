// Requests to the server. Every answer is JSON; every error is an ApiError with the server's own sentence.
import type { FieldError } from "./types.ts";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly reason = "",
    readonly fields: FieldError[] = [],
    readonly login = "",
    readonly retryAfter = 0, // in seconds
  ) {
    super(message);
  }
}

async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      headers: method === "GET" ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, silent);
  }
  if (!response.ok) throw await errorOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

const silent = "The server of this page doesn't answer.";

async function errorOf(response: Response): Promise<ApiError> {
  const value = await response.json().catch(() => ({}));
  return new ApiError(
    response.status,
    value.error ?? `The server answered ${response.status}.`,
    value.reason,
    value.fields,
    value.login,
    Number(response.headers.get("Retry-After")) || 0,
  );
}

// refusal says why a stream was refused, which an EventSource keeps to itself: by asking again. It is undefined if the
// stream is not refused any more.
export async function refusal(path: string): Promise<ApiError | undefined> {
  const enough = new AbortController();
  try {
    const response = await fetch(path, { credentials: "same-origin", signal: enough.signal });
    return response.ok ? undefined : await errorOf(response);
  } catch {
    return new ApiError(0, silent);
  } finally {
    enough.abort();
  }
}

export const get = <T>(path: string) => request<T>("GET", path);
export const post = <T>(path: string, body: unknown) => request<T>("POST", path, body);
export const remove = (path: string) => request<void>("DELETE", path);

// query writes a query string; a list gives one parameter an item, and what is empty is left out.
export function query(params: Record<string, string | number | boolean | undefined | readonly string[]>): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === "") continue;
    if (Array.isArray(value)) for (const item of value) q.append(name, item);
    else q.append(name, String(value));
  }
  const text = q.toString();
  return text ? "?" + text : "";
}
