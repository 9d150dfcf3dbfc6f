package jobs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// results are what the page tells.
type results struct {
	cluster  string
	runs     int
	only     *regexp.Regexp // which parts run
	idleTime time.Duration
	clear    bool
	n        int
	nodes    int
	chainN   int
	wide     []pair
	chain    []pair // starting successors as soon as the pods tell
	waiting  []pair // waiting for the Jobs' conditions
	handover handovers
	daemon   []pair
	bigN     int
	big      outcome
	heap     uint64
}

func (r results) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; Kubernetes %s, %d simulated nodes. Median of %d runs, of which both take turns.\n\n",
		lab.Machine(), r.cluster, r.nodes, r.runs)
	b.WriteString("| | bare client | Armature | ratio |\n|---|---:|---:|---:|\n")
	row := func(what string, pairs []pair, of func(outcome) time.Duration) {
		bare := medianOf(pairs, func(p pair) time.Duration { return of(p.bare) })
		ours := medianOf(pairs, func(p pair) time.Duration { return of(p.ours) })
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f |\n", what, show(bare), show(ours), ratio(ours, bare))
	}
	hop := func(o outcome) time.Duration { return o.succeeded / time.Duration(r.chainN) }
	row(fmt.Sprintf("JobFlow of %d Jobs without dependencies: all created", r.n), r.wide, func(o outcome) time.Duration { return o.created })
	row("... to success", r.wide, func(o outcome) time.Duration { return o.succeeded })
	row(fmt.Sprintf("DaemonJob on %d nodes: all created", r.nodes), r.daemon, func(o outcome) time.Duration { return o.created })
	row("... to success", r.daemon, func(o outcome) time.Duration { return o.succeeded })
	row(fmt.Sprintf("Chain of %d Jobs that succeed at once: one hop", r.chainN), r.chain, hop)
	row("... waiting for the Job's condition (`endOfJob: Condition`)", r.waiting, hop)
	fmt.Fprintf(&b, "\nFrom the event that a Job is complete to the event that its successor is created, in %d chains at once:\n\n"+
		"- bare client: %s\n- Armature, `endOfJob: Condition`: %s\n- Armature by default, which doesn't wait for that event: %s\n",
		chains, spread(r.handover.bare), spread(r.handover.waiting), spread(r.handover.early))
	b.WriteString("\nRequests of the operator, one run:\n\n")
	for _, c := range []struct {
		name string
		out  outcome
	}{
		{fmt.Sprintf("JobFlow of %d", r.n), last(r.wide)},
		{fmt.Sprintf("DaemonJob on %d", r.nodes), last(r.daemon)},
		{fmt.Sprintf("JobFlow of %d", r.bigN), r.big},
	} {
		fmt.Fprintf(&b, "- %s: %s; %d events of Jobs; when idle: %s\n", c.name, list(c.out.requests), c.out.events, list(c.out.idle))
	}
	fmt.Fprintf(&b, "\nA flow of %d nodes: %s to success; its status was at most %.1f KiB; the operator's heap at most %d MiB.\n",
		r.bigN, show(r.big.succeeded), float64(r.big.status)/1024, r.heap>>20)
	b.WriteString("\n### Targets of JobFlow and DaemonJob\n\n" + r.targets())
	return b.String()
}

func last(pairs []pair) outcome {
	if len(pairs) == 0 {
		return outcome{}
	}
	return pairs[len(pairs)-1].ours
}

func list(requests map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(requests)) {
		parts = append(parts, fmt.Sprintf("%d %s", requests[what], what))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func show(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func medianOf(pairs []pair, of func(pair) time.Duration) time.Duration {
	var all []float64
	for _, p := range pairs {
		all = append(all, float64(of(p)))
	}
	return time.Duration(percentile(all, 50))
}

// spread shows what most of some milliseconds are.
func spread(ms []float64) string {
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", percentile(ms, 50), percentile(ms, 99))
}

// percentile returns the smallest of some numbers that p of 100 are not above.
func percentile(numbers []float64, p int) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	return sorted[max((len(sorted)*p+99)/100-1, 0)]
}
