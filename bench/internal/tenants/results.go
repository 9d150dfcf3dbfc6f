package tenants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// measured is what one attack did to one manager.
type measured struct {
	alone, attacked times
	memory          uint64 // the most that was resident
	died            bool
}

// row is one attack, and each manager that was attacked.
type row struct {
	attack, probe string
	of            []measured // before, if there is one to compare with, and now
}

// results are what the page tells.
type results struct {
	cluster  string
	compares bool
	probes   int // of each time, at least
	rows     []row
}

func (m measured) String() string {
	return fmt.Sprintf("alone %s (%d), attacked %s (%d), %s",
		spread(m.alone.served), len(m.alone.served), spread(m.attacked.served), len(m.attacked.served), m.used())
}

// used is the most memory that the manager used.
func (m measured) used() string {
	if m.died {
		return "ended"
	}
	return fmt.Sprintf("%d MiB", m.memory>>20)
}

func (r results) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; Kubernetes %s. p50 / p99 of at least %d single objects of another tenant, one after another; "+
		"the manager's largest resident set.\n\n",
		lab.Machine(), r.cluster, r.probes)
	b.WriteString("| attack | object | manager | alone | under attack | minimal operator: alone | under attack | memory |\n" +
		"|---|---|---|---:|---:|---:|---:|---:|\n")
	for _, row := range r.rows {
		for i, m := range row.of {
			name := "now"
			if r.compares && i == 0 {
				name = "before"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", row.attack, row.probe, name,
				spread(m.alone.served), spread(m.attacked.served), spread(m.alone.minimal), spread(m.attacked.minimal), m.used())
		}
	}
	b.WriteString("\nA busy tenant never delays others' single objects by more than twice (p50), " +
		"apart from what the API server itself takes\nlonger for: the object's slowdown divided by that of the minimal operator.\n\n")
	for _, row := range r.rows {
		m := row.of[len(row.of)-1]
		all, server := ratio(m.alone.served, m.attacked.served), max(1, ratio(m.alone.minimal, m.attacked.minimal))
		result, manager := "met", all/server
		if m.died || manager > 2 {
			result = "**missed**"
		}
		fmt.Fprintf(&b, "- %s: %s: %.1f times; in all %.1f times, the minimal operator %.1f times\n", result, row.attack, manager, all, server)
	}
	return b.String()
}

// ratio is how many times longer an object takes under attack.
func ratio(alone, attacked []time.Duration) float64 {
	median := percentile(alone, 50)
	if median == 0 {
		return 0
	}
	return float64(percentile(attacked, 50)) / float64(median)
}

func spread(all []time.Duration) string {
	return show(percentile(all, 50)) + " / " + show(percentile(all, 99))
}

func show(d time.Duration) string {
	switch {
	case d >= probeTimeout:
		return "never"
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
}

// percentile returns the smallest of some times that p of 100 are not above.
func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max((len(sorted)*p+99)/100-1, 0)]
}
