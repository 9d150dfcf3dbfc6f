// What a screen says about its content: above it that its stream has ended, or that its object may not be read; below it
// what there are too many of.
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

// Limited names the kinds of which the server shows only a part.
export function Limited({ sources }: { sources: Source[] }) {
  const limited = sources.filter((s) => s.state === "limited");
  if (!limited.length) return null;
  return (
    <p class="footnote">
      {limited
        .map((s) => `${s.kind}${s.namespace ? ` in ${s.namespace}` : ""}: ${s.message}.`)
        .sort()
        .join(" ")}
    </p>
  );
}
