// What a screen says above its content when its stream has ended, or its object may not be read.
import type { Source } from "../types.ts";

export function Problem({ text }: { text: string }) {
  return text ? (
    <p class="message bad" role="alert">
      {text}
    </p>
  ) : null;
}

// unseen says why nothing of a kind comes: the viewer may not see it here, or the cluster doesn't have the kind.
export function unseen(kind: string, sources: Source[]): string {
  const s = sources.find((s) => s.kind === kind && (s.state === "forbidden" || s.state === "absent"));
  return s ? s.message || `${kind}: ${s.state}.` : "";
}
