// Follows one flow.
import { signal } from "@preact/signals";
import { query } from "../api.ts";
import { openStream } from "../stream.ts";
import type { FlowNode, Graph, Row } from "../types.ts";
import { FlowModel } from "./model.ts";

export function watchFlow(namespace: string, name: string) {
  const row = signal<Row | undefined>(undefined);
  const model = signal<FlowModel | undefined>(undefined);
  // version grows when nodes of the model have changed.
  const version = signal(0);
  // shown is true once the graph and its nodes have come for the first time: the view begins where something happens.
  const shown = signal(false);
  let scheduled = false;
  const changed = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      version.value++;
    });
  };
  let shape = "";
  const stream = openStream("/api/stream/flow" + query({ namespace, name }), {
    reset: () => {},
    synced: () => { shown.value = true; },
    flow: (f: Row) => { row.value = f; },
    graph: (g: Graph) => {
      // After a reconnect the same graph keeps the view where it was; its nodes are sent anew.
      const text = JSON.stringify([g.names, g.edges]);
      const old = model.peek();
      if (old && text === shape) old.clear();
      else model.value = new FlowModel(g);
      shape = text;
      changed();
    },
    nodes: (nodes: FlowNode[]) => {
      for (const n of nodes) model.peek()?.set(n);
      changed();
    },
  });
  return { row, model, version, shown, stream };
}

export type FlowWatch = ReturnType<typeof watchFlow>;
