package install

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// testMetricsAreForThoseWhoMay reads the metrics of a manager as nobody, as an account that may not, and as one that
// has the chart's role of a reader.
func testMetricsAreForThoseWhoMay(t *testing.T, noted *verbs) {
	t.Parallel()
	c := newRelease(t, "armature-metrics")
	c.verbs = noted
	c.installChart(thisChart(t), alone(c.home, "jobflow")...)
	for _, name := range []string{"reader", "other"} {
		require.NoError(t, c.client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.home, Name: name}}))
	}
	require.NoError(t, c.client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics-of-armature"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: c.release + "-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: c.home, Name: "reader"}},
	}))

	metrics, health := binary.FreeAddress(t), binary.FreeAddress(t)
	c.flow(c.home, "done", "true")
	c.manager("--metrics-bind-address="+metrics, "--health-probe-bind-address="+health)
	eventually(t, "it is ready", func() bool {
		response, err := http.Get("http://" + health + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	read := func(token string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+metrics+"/metrics", nil)
		require.NoError(t, err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		own := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		response, err := own.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	eventually(t, "it listens, not to nobody", func() bool {
		status, _ := read("")
		return status == http.StatusUnauthorized
	})
	status, _ := read("made-up")
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = read(c.token("other"))
	assert.Equal(t, http.StatusForbidden, status)
	reader := c.token("reader")
	eventually(t, "the reader may", func() bool {
		status, _ = read(reader)
		return status == http.StatusOK
	})
	var body string
	eventually(t, "it leads, and counts", func() bool {
		_, body = read(reader)
		return strings.Contains(body, `armature_finished_total{kind="JobFlow",outcome="succeeded"} 1`) &&
			strings.Contains(body, `armature_objects{kind="JobFlow",state="finished"} 1`)
	})
	for _, line := range []string{
		`armature_duration_seconds_count{kind="JobFlow",outcome="succeeded"} 1`,
		`armature_start_latency_seconds_count{kind="JobFlow"} 1`,
		// What the alert rules and the dashboard ask for of controller-runtime and the process.
		`controller_runtime_reconcile_total{controller="jobflow",result="success"}`,
		`controller_runtime_reconcile_errors_total{controller="jobflow"}`,
		`controller_runtime_reconcile_time_seconds_bucket{controller="jobflow",le=`,
		`workqueue_queue_duration_seconds_bucket{controller="jobflow",name="jobflow"`,
		`process_resident_memory_bytes`,
	} {
		assert.Contains(t, body, "\n"+line)
	}
}
