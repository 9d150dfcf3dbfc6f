package monitoring

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const dir = "../../charts/armature/monitoring/"

// theirs are the metrics of controller-runtime and of the process that the rules make use of.
var theirs = []string{"controller_runtime_reconcile_", "workqueue_queue_duration_seconds_bucket", "process_resident_memory_bytes"}

// known fails for a metric of ours that docs/metrics.md doesn't explain.
func known(t *testing.T, query string) {
	t.Helper()
	docs, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	require.NoError(t, err, query)
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, prefix := range theirs {
			if strings.HasPrefix(selector.Name, prefix) {
				return nil
			}
		}
		name := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(selector.Name, "")
		assert.Contains(t, string(docs), "`"+name+"`", query)
		return nil
	})
}

func TestAlertRules(t *testing.T) {
	text, err := os.ReadFile(dir + "alerts.yaml")
	require.NoError(t, err)
	groups, problems := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	require.Empty(t, problems)
	require.NotEmpty(t, groups.Groups)
	for _, rule := range groups.Groups[0].Rules {
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
