package peers

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// cell is where a measurement belongs in the tables.
type cell struct {
	peer, scenario string
	size           int
}

type results struct {
	sizes   []int
	samples map[cell][]lab.Sample
	slow    map[cell]bool // peers that got one turn only, by size
}

func (r results) of(peer, scenario string, size int) (lab.Sample, bool) {
	samples := r.samples[cell{peer, scenario, size}]
	return lab.Median(samples), len(samples) > 0
}

var titles = map[string]string{
	unchanged: "All unchanged", drifted: "One drifted", changed: "One changed", pruned: "One pruned", created: "All created",
}

func (r results) markdown(kubernetes string, runs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s; Kubernetes %s. Median of %d runs, in which the peers take turns;\n"+
		"who needs more than a minute for a size has one run of it. Versions:\n%s.\n",
		lab.Machine(), kubernetes, runs, strings.Join(versions(), ", "))
	for _, scenario := range scenarios {
		fmt.Fprintf(&b, "\n### %s\n\n| |", titles[scenario])
		for _, n := range r.sizes {
			fmt.Fprintf(&b, " %d: reads + writes | time | CPU | allocations |", n)
		}
		fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---:|", 4*len(r.sizes)))
		for _, p := range peers {
			if row := r.row(p.name, scenario); row != "" {
				fmt.Fprintf(&b, "| %s |%s\n", p.name, row)
			}
		}
	}
	fmt.Fprintf(&b, "\n### Targets\n\n%s\n", r.targets())
	return b.String()
}

func (r results) row(peer, scenario string) string {
	var b strings.Builder
	for _, n := range r.sizes {
		s, ok := r.of(peer, scenario, n)
		if !ok {
			return ""
		}
		note := ""
		if !s.Reached {
			note = " (!)"
		}
		fmt.Fprintf(&b, " %d + %d%s | %s | %s | %d |", s.Reads, s.Writes, note, milliseconds(s.Time), milliseconds(s.CPU), s.Allocs)
	}
	return b.String()
}

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 1:
		return fmt.Sprintf("%.3f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}

// targets says how Armature stands against its own.
func (r results) targets() string {
	n := r.sizes[len(r.sizes)-1]
	same, _ := r.of(armature, unchanged, n)
	drift, _ := r.of(armature, drifted, n)
	made, _ := r.of(armature, created, n)
	least, _ := r.of(bare, created, n)
	cached, _ := r.of(bareCached, created, n)
	ratio := float64(made.Time) / float64(least.Time)
	first, _ := r.of(armature, unchanged, r.sizes[0])
	growth := float64(same.CPU) / float64(first.CPU) / (float64(n) / float64(r.sizes[0]))
	perChild := same.Time / time.Duration(n)
	allocs := float64(same.Allocs) / float64(n)
	line := func(ok bool, format string, args ...any) string {
		return "- " + map[bool]string{true: "met", false: "**missed**"}[ok] + ": " + fmt.Sprintf(format, args...)
	}
	return strings.Join([]string{
		line(same.Reads+same.Writes == 0, "unchanged costs no request: %d of %d Deployments", same.Reads+same.Writes, n),
		line(perChild <= 5*time.Microsecond, "at most 5 µs for each: %.1f µs, of which %.1f µs of CPU",
			float64(perChild)/1000, float64(same.CPU)/float64(n)/1000),
		line(allocs <= 5, "at most 5 allocations for each: %.1f", allocs),
		line(made.Writes == int64(n), "%d created by %d writes: %d", n, n, made.Writes),
		line(ratio <= 1.1, "within 1.1 of a bare parallel client's time: %.2f; of one that keeps a cache, as an operator must: %.2f",
			ratio, float64(made.Time)/float64(cached.Time)),
		line(drift.Writes == 1 && drift.Reached, "one drifted among %d is one write: %d", n, drift.Writes),
		line(growth <= 1.5, "linear in the number of Deployments: a Deployment among %d takes %.2f times the CPU of one among %d",
			n, growth, r.sizes[0]),
	}, "\n")
}

// versions lists the peers' modules as they are built in.
func versions() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var all []string
	for _, p := range peers {
		module := cmp.Or(p.module, "sigs.k8s.io/controller-runtime")
		for _, d := range info.Deps {
			if d.Path == module && !p.onlyNew {
				all = append(all, p.name+" "+cmp.Or(strings.TrimSuffix(replaced(d), "(devel)"), "(this tree)"))
			}
		}
	}
	return all
}

func replaced(m *debug.Module) string {
	if m.Replace != nil {
		return m.Replace.Version
	}
	return m.Version
}
