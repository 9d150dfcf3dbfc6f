package monitoring

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAlertsRing evaluates each rule each minute over two hours of series, one in which it must ring and one in which it must not.
func TestAlertsRing(t *testing.T) {
	cases := map[string]struct{ rings, silent string }{
		"ArmatureAbsent": {
			rings:  `armature_objects{kind="JobFlow",state="active"} 1x10 _x110`,
			silent: `armature_objects{kind="JobFlow",state="active"} 1x120`,
		},
		"ArmatureRolloutHalted": { // a series that begins with 1 is the usual one
			rings:  `armature_builder_rollout_owners{controller="jobflow",state="halted"} _x30 1x90`,
			silent: `armature_builder_rollout_owners{controller="jobflow",state="waiting"} 5x120`,
		},
		"ArmatureChildrenForbidden": { // a quota is tried once a minute
			rings:  `armature_builder_operations_total{controller="jobflow",kind="Job.batch",operation="create",result="forbidden"} _x30 1+1x90`,
			silent: `armature_builder_operations_total{controller="jobflow",kind="Job.batch",operation="create",result="forbidden"} _x30 1x90`,
		},
		"ArmatureFieldFoughtOver": {
			rings:  `armature_builder_objects_contested{controller="jobflow"} 0x30 1x90`,
			silent: `armature_builder_objects_contested{controller="jobflow"} 0x30 1x10 0x80`,
		},
		"ArmatureObjectsStuck": {
			rings:  `armature_builder_objects_waiting{controller="jobflow"} 2x120`,
			silent: `armature_builder_objects_waiting{controller="jobflow"} 2x20 0 2x20 0 2x20 0 2x20 0 2x20`,
		},
		"ArmatureMostFail": { // all of a night fail between two scrapes; a leader's series begin with 0
			rings: `armature_finished_total{kind="JobFlow",outcome="failed"} _x30 0 60x89
				armature_finished_total{kind="JobFlow",outcome="succeeded"} _x30 0x90`,
			silent: `armature_finished_total{kind="JobFlow",outcome="failed"} _x30 0x90
				armature_finished_total{kind="JobFlow",outcome="succeeded"} _x30 0 60x89`,
		},
		"ArmatureBehind": {
			rings: `workqueue_queue_duration_seconds_bucket{name="jobflow",le="10"} 0x120
				workqueue_queue_duration_seconds_bucket{name="jobflow",le="100"} 0+9x120
				workqueue_queue_duration_seconds_bucket{name="jobflow",le="+Inf"} 0+9x120`,
			silent: `workqueue_queue_duration_seconds_bucket{name="jobflow",le="10"} 0+9x120
				workqueue_queue_duration_seconds_bucket{name="jobflow",le="100"} 0+9x120
				workqueue_queue_duration_seconds_bucket{name="jobflow",le="+Inf"} 0+9x120`,
		},
		"ArmatureErrors": { // one owner whose passes always fail is tried once a minute
			rings:  `controller_runtime_reconcile_errors_total{controller="fluxjob"} 0x30 1+1x90`,
			silent: `controller_runtime_reconcile_errors_total{controller="fluxjob"} 0x30 20x90`,
		},
	}
	for _, rule := range rules(t) {
		assert.Contains(t, cases, rule.Alert)
	}
	for alert, series := range cases {
		t.Run(alert, func(t *testing.T) {
			assert.True(t, rings(t, alert, series.rings), series.rings)
			assert.False(t, rings(t, alert, series.silent), series.silent)
		})
	}
}

// rings reports whether an alert's expression holds for as long as the rule says, without a gap.
func rings(t *testing.T, alert, series string) bool {
	t.Helper()
	rule := ruleOf(t, alert)
	storage := promqltest.LoadedStorage(t, "load 1m\n"+series)
	engine := promqltest.NewTestEngine(t, false, 0, 1e6)
	longest, holds := time.Duration(0), -time.Minute
	for at := time.Duration(0); at <= 2*time.Hour; at += time.Minute {
		query, err := engine.NewInstantQuery(t.Context(), storage, promql.NewPrometheusQueryOpts(false, 0), rule.Expr, time.Unix(0, 0).Add(at))
		require.NoError(t, err)
		result := query.Exec(t.Context())
		require.NoError(t, result.Err)
		vector, err := result.Vector()
		require.NoError(t, err)
		holds += time.Minute
		if len(vector) == 0 {
			holds = -time.Minute
		}
		longest = max(longest, holds)
		query.Close()
	}
	return longest >= time.Duration(rule.For)
}

func ruleOf(t *testing.T, alert string) rulefmt.Rule {
	t.Helper()
	for _, rule := range rules(t) {
		if rule.Alert == alert {
			return rule
		}
	}
	require.Fail(t, "no rule "+alert)
	return rulefmt.Rule{}
}

func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(dir + "alerts.yaml")
	require.NoError(t, err)
	groups, problems := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	require.Empty(t, problems)
	require.NotEmpty(t, groups.Groups)
	return groups.Groups[0].Rules
}
