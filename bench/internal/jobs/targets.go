package jobs

import (
	"fmt"
	"strings"
	"time"
)

// targets says which of what is wanted was reached.
func (r results) targets() string {
	var b strings.Builder
	say := func(ok bool, format string, args ...any) {
		verdict := map[bool]string{true: "met", false: "**missed**"}[ok]
		fmt.Fprintf(&b, "- %s: %s\n", verdict, fmt.Sprintf(format, args...))
	}
	success := func(o outcome) time.Duration { return o.succeeded }
	wide, daemon := ratioOf(r.wide, success), ratioOf(r.daemon, success)
	say(wide <= 1.1, "a JobFlow of %d Jobs takes at most 1.1 of a bare client's time: %.2f", r.n, wide)
	say(daemon <= 1.1, "a DaemonJob on %d nodes takes at most 1.1 of a bare client's time: %.2f", r.nodes, daemon)
	hop := r.hop(r.chain)
	say(hop <= 100*time.Millisecond, "a hop of a chain takes at most 100 ms: %s", show(hop))
	for _, h := range []struct {
		how  string
		took []float64
	}{{"by default", r.handover.early}, {"with `endOfJob: Condition`", r.handover.waiting}} {
		p50, p99 := percentile(h.took, 50), percentile(h.took, 99)
		say(p50 < 6 && p99 < 25, "a successor is created within 6 ms (p50) and 25 ms (p99) of a Job's completion, %s: %.1f ms, %.1f ms",
			h.how, p50, p99)
	}

	ours := last(r.wide)
	say(ours.requests["POST jobs"] == r.n, "one create a Job: %d of %d", ours.requests["POST jobs"], r.n)
	status, most := ours.requests["PATCH jobflows/status"], 2+ours.events/50
	say(status <= most, "at most 2 + events/50 writes of status, %d: %d", most, status)
	idle := append(append([]pair(nil), r.wide...), r.daemon...)
	none := true
	for _, p := range idle {
		none = none && len(p.ours.idle) == 0
	}
	say(none, "no request when idle")
	if r.bigN > 0 {
		say(r.big.status < 100<<10, "the status of a flow of %d nodes stays below 100 KiB: %.1f KiB", r.bigN, float64(r.big.status)/1024)
	}
	return b.String()
}

// hop is the median time that a Job of a chain takes, with what it waits for.
func (r results) hop(pairs []pair) time.Duration {
	return medianOf(pairs, func(p pair) time.Duration { return p.ours.succeeded }) / time.Duration(r.chainN)
}

// ratioOf compares the medians of both.
func ratioOf(pairs []pair, of func(outcome) time.Duration) float64 {
	bare := medianOf(pairs, func(p pair) time.Duration { return of(p.bare) })
	return ratio(medianOf(pairs, func(p pair) time.Duration { return of(p.ours) }), bare)
}
