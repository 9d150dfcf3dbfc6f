package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const dir = "../../charts/armature/monitoring/"

// theirs are the metrics of controller-runtime and of the process that the rules make use of, with their labels. The
// integration tests look whether a manager has them.
var theirs = map[string][]string{
	"controller_runtime_reconcile_total":        {"controller", "result"},
	"controller_runtime_reconcile_errors_total": {"controller"},
	"controller_runtime_reconcile_time_seconds": {"controller"},
	"workqueue_queue_duration_seconds":          {"name", "controller", "priority"},
	"process_resident_memory_bytes":             {},
}

// ours returns the metrics that docs/metrics.md explains, with their labels.
func ours(t *testing.T) map[string][]string {
	t.Helper()
	docs, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	all := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(armature_[a-z_]+)` \\| [a-z]+ \\| ([^|]*) \\|").FindAllStringSubmatch(string(docs), -1) {
		all[row[1]] = strings.Split(strings.ReplaceAll(row[2], "`", ""), ", ")
	}
	require.NotEmpty(t, all)
	return all
}

// known fails for a metric that there isn't, and for a label that no metric of the query has.
func known(t *testing.T, query string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	require.NoError(t, err, query)
	labels := []string{"__name__", "le", "job", "instance"} // le is of histograms, the last two are Prometheus' own
	var asked []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			name := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(n.Name, "")
			has, is := theirs[name]
			if !is {
				has, is = ours(t)[name]
			}
			assert.True(t, is, "%s: there is no metric %s", query, name)
			labels = append(labels, has...)
			for _, m := range n.LabelMatchers {
				asked = append(asked, m.Name)
			}
		case *parser.AggregateExpr:
			asked = append(asked, n.Grouping...)
		}
		return nil
	})
	assert.Subset(t, labels, asked, query)
}

func TestAlertRules(t *testing.T) {
	for _, rule := range rules(t) {
		known(t, rule.Expr)
		assert.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		assert.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
	}
}

func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dir + "dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	require.NotEmpty(t, dashboard.Panels)
	for _, panel := range dashboard.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			known(t, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
		}
	}
}
