// What the drawer shows of one object or one node of a flow. When the stream opens again, the old values stay until
// the new ones are complete.
import { effect, signal } from "@preact/signals";
import { query } from "./api.ts";
import { openStream, type Stream } from "./stream.ts";
import type { ClusterEvent, Explanation, InOut, MapNode, Pod, Row } from "./types.ts";

export interface DetailData {
  row?: Row;
  object?: Record<string, any>;
  yaml?: string;
  explain?: Explanation;
  pods: Map<string, Pod>;
  events: Map<string, ClusterEvent>;
  io?: InOut;
  nodes: Map<string, MapNode>;
}

const fresh = (): DetailData => ({ pods: new Map(), events: new Map(), nodes: new Map() });

export type Detail = ReturnType<typeof watchDetail>;

export function watchDetail(kind: string, namespace: string, name: string, node = "") {
  const data = signal<DetailData>(fresh());
  let next = fresh();
  let complete = false;
  let scheduled = false;
  const show = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      data.value = { ...next };
    });
  };
  const changed = () => {
    if (complete || !data.peek().row) show();
  };
  const stream: Stream = openStream(
    "/api/stream/detail" + query({ kind, namespace: namespace === "-" ? "" : namespace, name, node }),
    {
      reset: () => {
        next = fresh();
        complete = false;
      },
      synced: () => {
        complete = true;
        show();
      },
      object: (o) => {
        next = { ...next, row: o.row, object: o.object, yaml: o.yaml };
        changed();
      },
      explain: (e) => {
        next.explain = e;
        changed();
      },
      pods: (list: Pod[]) => {
        for (const p of list) next.pods.set(p.uid, p);
        changed();
      },
      podsGone: (uids: string[]) => {
        for (const u of uids) next.pods.delete(u);
        changed();
      },
      events: (list: ClusterEvent[]) => {
        for (const e of list) next.events.set(e.uid, e);
        changed();
      },
      io: (io: InOut) => {
        next.io = io;
        changed();
      },
      nodes: (list: MapNode[]) => {
        for (const n of list) next.nodes.set(n.name, n);
        changed();
      },
      nodesGone: (names: string[]) => {
        for (const n of names) next.nodes.delete(n);
        changed();
      },
    },
  );
  // refresh opens a stream that is held until it has sent everything once.
  const refresh = () => {
    stream.hold(false);
    const stop = effect(() => {
      if (!stream.state.value.synced) return;
      queueMicrotask(() => {
        stop();
        stream.hold(true);
      });
    });
  };
  return { data, stream, refresh };
}
