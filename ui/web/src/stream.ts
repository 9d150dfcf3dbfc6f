// One stream of server-sent events. It closes while the page is hidden, since a browser has six connections to a
// server, and opens again when
// it is visible. After each opening the server sends everything anew, and says so with the event reset.
import { signal, type Signal } from "@preact/signals";
import { refusal } from "./api.ts";
import { check } from "./session.ts";
import type { Source } from "./types.ts";

export interface StreamState {
  synced: boolean;
  connected: boolean;
  problem: string;
  sources: Source[];
}

export interface Stream {
  state: Signal<StreamState>;
  // hold closes the stream until it is called with false.
  hold(is: boolean): void;
  close(): void;
}

// The pauses between attempts to open a stream.
const firstPause = 1000;
const longestPause = 30000;
// The server sends an event at least every 15 seconds. Of a connection that was dropped without a word a browser says
// nothing for minutes: a stream that is silent for so long opens again.
const longestSilence = 45000;

type Handlers = { reset(): void } & Record<string, (data: any) => void>;

const fresh = (): StreamState => ({ synced: false, connected: false, problem: "", sources: [] });

export function openStream(path: string, handlers: Handlers): Stream {
  const state = signal<StreamState>(fresh());
  let source: EventSource | undefined;
  let pause = firstPause;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const set = (change: Partial<StreamState>) => {
    state.value = { ...state.peek(), ...change };
  };

  const open = () => {
    if (source) return;
    const es = (source = new EventSource(path));
    es.onopen = () => set({ connected: true });
    es.onerror = () => {
      set({ connected: false });
      // A browser gives up after an answer that is no stream (a proxy's 502); what it can't do alone is done here.
      if (es.readyState === EventSource.CLOSED && source === es) {
        close();
        void refused();
      }
    };
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        close();
        set({ connected: false });
        visible();
      }, longestSilence);
    };
    heard();
    const on = (name: string, handle: (data: any) => void) =>
      es.addEventListener(name, (e) => {
        heard();
        handle(JSON.parse((e as MessageEvent<string>).data));
      });
    on("ping", () => {});
    for (const [name, handle] of Object.entries(handlers)) {
      if (name !== "reset") on(name, handle);
    }
    on("reset", () => {
      set({ ...fresh(), connected: true });
      handlers.reset();
    });
    on("synced", () => {
      pause = firstPause;
      set({ synced: true });
    });
    on("source", (s: Source) => {
      const others = state.peek().sources.filter((o) => o.kind !== s.kind || o.namespace !== s.namespace);
      set({ sources: [...others, s] });
    });
    on("problem", (p: { error: string; reason?: string }) => end(p.error, p.reason === "Unauthorized"));
  };
  // refused asks why: what the viewer or the address is to blame for isn't repeated, everything else is. Too many streams
  // are no one's lasting fault: the page says so, and opens this one when others have closed.
  const refused = async () => {
    const e = await refusal(path);
    if (over || source) return;
    const crowded = e?.status === 429;
    if (e && !crowded && e.status >= 400 && e.status < 500) return end(e.message, e.status === 401);
    set({ problem: crowded ? e.message : "" });
    later(1000 * (e?.retryAfter ?? 0));
  };
  const later = (atLeast = 0) => {
    clearTimeout(retry);
    retry = setTimeout(visible, Math.max(pause, atLeast));
    pause = Math.min(2 * pause, longestPause);
  };
  // end ends the stream for good, unless a refused credential is to blame: it opens again once the session is good.
  const end = (problem: string, unauthorized: boolean) => {
    set({ problem, connected: false });
    if (!unauthorized) return stop();
    asking = true;
    close();
    void check().then((good) => {
      asking = false;
      if (!good) stop();
      else if (!over) later();
    });
  };
  const close = () => {
    clearTimeout(retry);
    clearTimeout(silence);
    source?.close();
    source = undefined;
  };
  let held = false,
    asking = false,
    over = false;
  const visible = () => {
    if (document.hidden || held || asking || over) close();
    else open();
  };
  const hold = (is: boolean) => {
    held = is;
    if (is) set({ synced: false });
    visible();
  };
  const stop = () => {
    over = true;
    close();
    document.removeEventListener("visibilitychange", visible);
    live.delete(state);
  };

  live.add(state);
  document.addEventListener("visibilitychange", visible);
  visible();
  return { state, hold, close: stop };
}

// live are the states of the open streams: the banner shows what is unreachable in any of them.
class Live {
  readonly states = signal<readonly Signal<StreamState>[]>([]);
  add(s: Signal<StreamState>) {
    this.states.value = [...this.states.peek(), s];
  }
  delete(s: Signal<StreamState>) {
    this.states.value = this.states.peek().filter((o) => o !== s);
  }
}
export const live = new Live();
