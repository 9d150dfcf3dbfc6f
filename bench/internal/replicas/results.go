package replicas

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// peer is one of those that are compared.
type peer string

const (
	bare           peer = "bare client"
	armature       peer = "Armature"
	kubeflowCommon peer = "kubeflow/common"
)

// results are what the page tells.
type results struct {
	cluster string
	runs    int
	nodes   int
	sizes   []int
	of      map[peer]map[int][]outcome
	bigN    int
	big     outcome
}

func (r *results) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; Kubernetes %s, %d simulated nodes. Median of %d runs, of which all three take turns. kubeflow/common v0.4.7.\n",
		lab.Machine(), r.cluster, r.nodes, r.runs)
	for _, n := range r.sizes {
		fmt.Fprintf(&b, "\n### %d pods\n\n"+
			"| | all created | to success | over bare | reconciles | requests | status writes | requests for events | when idle |\n"+
			"|---|---:|---:|---:|---:|---:|---:|---:|---:|\n", n)
		for _, p := range []peer{bare, armature, kubeflowCommon} {
			outs := r.of[p][n]
			fmt.Fprintf(&b, "| %s | %s | %s | %.2f", p, show(median(outs, created)), show(median(outs, succeeded)), r.ratio(p, n, succeeded))
			if p == bare {
				b.WriteString(" | | | | | |\n")
				continue
			}
			fmt.Fprintf(&b, " | %d | %d | %d | %d | %d |\n", median(outs, func(o outcome) int { return o.reconciles }),
				median(outs, func(o outcome) int { return total(o.requests) }), median(outs, statusWrites),
				median(outs, func(o outcome) int { return o.events }), median(outs, func(o outcome) int { return total(o.idle) }))
		}
		for _, p := range []peer{armature, kubeflowCommon} {
			fmt.Fprintf(&b, "\n%s, one run: %s.\n", p, list(last(r.of[p][n]).requests))
		}
	}
	if r.bigN > 0 {
		fmt.Fprintf(&b, "\n### A job of %d pods\n\nArmature: all created in %s, success after %s; %d passes; %s; when idle: %s. "+
			"Its status was at most %.1f KiB, and the heap of the operator's process at most %d MiB.\n",
			r.bigN, show(r.big.created), show(r.big.succeeded), r.big.reconciles, list(r.big.requests), list(r.big.idle),
			float64(r.big.status)/1024, r.big.heap>>20)
	}
	return b.String() + "\n" + r.targets()
}

// targets says which of what is wanted was reached.
func (r *results) targets() string {
	var b strings.Builder
	say := func(ok bool, format string, args ...any) {
		verdict := map[bool]string{true: "met", false: "**missed**"}[ok]
		fmt.Fprintf(&b, "- %s: %s\n", verdict, fmt.Sprintf(format, args...))
	}
	runs := map[int]outcome{}
	for _, n := range r.sizes {
		runs[n] = last(r.of[armature][n])
	}
	if r.bigN > 0 {
		runs[r.bigN] = r.big
	}
	for _, n := range slices.Sorted(maps.Keys(runs)) {
		out := runs[n]
		creates := out.requests["POST pods"] + out.requests["POST services"]
		say(creates == n+1, "%d pods: one create a pod and one for the Service: %d", n, creates)
		say(statusWrites(out) <= 5+n/50, "%d pods: at most 5 + N/50 writes of status, %d: %d", n, 5+n/50, statusWrites(out))
		say(reads(out.requests) == 0, "%d pods: nothing is read, for the clean-up neither: %d", n, reads(out.requests))
		say(len(out.idle) == 0, "%d pods: no request when idle", n)
	}
	for _, n := range r.sizes {
		c, s := r.ratio(armature, n, created), r.ratio(armature, n, succeeded)
		say(c <= 1.1 && s <= 1.1, "%d pods: creation and success within 1.1 of the bare client: %.2f, %.2f", n, c, s)
	}
	return b.String()
}

func (r *results) ratio(p peer, n int, of func(outcome) time.Duration) float64 {
	base := median(r.of[bare][n], of)
	if base == 0 {
		return 0
	}
	return float64(median(r.of[p][n], of)) / float64(base)
}

func created(o outcome) time.Duration   { return o.created }
func succeeded(o outcome) time.Duration { return o.succeeded }

func statusWrites(o outcome) int {
	n := 0
	for what, times := range o.requests {
		if strings.HasSuffix(what, "/status") {
			n += times
		}
	}
	return n
}

func reads(requests map[string]int) int {
	n := 0
	for what, times := range requests {
		if strings.HasPrefix(what, "GET ") {
			n += times
		}
	}
	return n
}

func total(requests map[string]int) int {
	n := 0
	for _, times := range requests {
		n += times
	}
	return n
}

func list(requests map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(requests)) {
		parts = append(parts, fmt.Sprintf("%d %s", requests[what], what))
	}
	if parts == nil {
		return "no requests"
	}
	return strings.Join(parts, ", ")
}

func last(outs []outcome) outcome {
	if len(outs) == 0 {
		return outcome{}
	}
	return outs[len(outs)-1]
}

func median[N cmp.Ordered](outs []outcome, of func(outcome) N) N {
	var all []N
	for _, o := range outs {
		all = append(all, of(o))
	}
	if len(all) == 0 {
		var none N
		return none
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

func show(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
