//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scraper reads the metrics of the manager that leads, as a Prometheus does: by https at its pod, as a service account to
// which the chart's role for readers is bound.
type scraper struct {
	*space
	token string
	http  *http.Client
}

func newScraper(s *space) *scraper {
	s.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "prometheus"}}
	require.NoError(s, cluster.Create(s.Context(), account))
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.name + "-prometheus"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "armature-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.name, Name: account.Name}},
	}
	require.NoError(s, cluster.Create(s.Context(), binding))
	s.Cleanup(func() { _ = cluster.Delete(context.WithoutCancel(s.T.Context()), binding) })
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](2 * 3600)}}
	require.NoError(s, cluster.SubResource("token").Create(s.Context(), account, request))
	return &scraper{s, request.Status.Token, &http.Client{
		Timeout: 10 * time.Second,
		// The certificate is the manager's own, by no authority. A connection that is kept would be one of its goroutines.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}}
}

// reading is what a manager tells of itself.
type reading struct {
	// process tells processes apart: a pod, and when it was started.
	process              string
	goroutines, resident float64
	passes, requests     float64
	// live is the heap that the last garbage collection found in use, and collected is when that was.
	live, collected float64
}

func (r reading) String() string {
	return fmt.Sprintf("%s: %.0f goroutines, %.1f MiB live heap, %.1f MiB resident", r.process, r.goroutines, r.live/(1<<20), r.resident/(1<<20))
}

// read asks the leader.
func (s *scraper) read() (reading, error) {
	lease := &coordinationv1.Lease{}
	if err := cluster.Get(s.Context(), client.ObjectKey{Namespace: home, Name: managersLease}, lease); err != nil {
		return reading{}, err
	}
	name, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	pod := &corev1.Pod{}
	if err := cluster.Get(s.Context(), client.ObjectKey{Namespace: home, Name: name}, pod); err != nil {
		return reading{}, err
	}
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, "https://"+pod.Status.PodIP+":8443/metrics", http.NoBody)
	if err != nil {
		return reading{}, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := s.http.Do(request)
	if err != nil {
		return reading{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return reading{}, fmt.Errorf("the metrics of %s: %s", name, answer.Status)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return reading{}, err
	}
	sum := func(metric string, but func(labels string) bool) (total float64) {
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, labels, _ := strings.Cut(name, "{")
			if name == metric && (but == nil || !but(labels)) {
				number, err := strconv.ParseFloat(value[strings.LastIndex(value, " ")+1:], 64)
				require.NoError(s, err, line)
				total += number
			}
		}
		return total
	}
	return reading{
		process:    fmt.Sprintf("%s@%.0f", name, sum("process_start_time_seconds", nil)),
		goroutines: sum("go_goroutines", nil),
		resident:   sum("process_resident_memory_bytes", nil),
		passes:     sum("controller_runtime_reconcile_total", nil),
		requests:   sum("rest_client_requests_total", isUpkeep),
		// With GOGC at 100 the next collection is due when the heap is twice what was in use.
		live:      sum("go_memstats_next_gc_bytes", nil) / 2,
		collected: sum("go_memstats_last_gc_time_seconds", nil),
	}, nil
}

// isUpkeep tells whether requests are those of any idle manager: PUT renews the lease, POST asks who reads the metrics, GET
// begins a watch anew.
func isUpkeep(labels string) bool {
	return !strings.Contains(labels, `method="PATCH"`) && !strings.Contains(labels, `method="DELETE"`)
}

// quietTime is how long a manager has to do nothing to count as quiet.
const quietTime = 10 * time.Second

// awaitQuiet waits for a while in which the leader makes no pass and sends no request but upkeep, whatever objects are
// there. There is no hot loop then, nor a retry that doesn't come to rest.
func (s *soak) awaitQuiet() (quiet reading) {
	s.Helper()
	s.eventually("a quiet manager", func() error {
		before, err := s.scraper.read()
		if err != nil {
			return err
		}
		s.until(time.Now().Add(quietTime))
		quiet, err = s.scraper.read()
		switch {
		case err != nil:
			return err
		case quiet.process != before.process:
			return fmt.Errorf("the leader was %s, and is %s", before.process, quiet.process)
		case quiet.passes != before.passes || quiet.requests != before.requests:
			return fmt.Errorf("%.0f passes and %.0f writes in %s", quiet.passes-before.passes, quiet.requests-before.requests, quietTime)
		}
		return nil
	})
	return quiet
}

// collections is how many garbage collections a measurement waits for. Reading the metrics makes the garbage that brings them about,
// within a second or two each.
const collections = 5

// measure reads a quiet leader after some garbage collections. Of goroutines and of the live heap the lowest of the readings counts:
// each reading is itself a goroutine at work, and what happens to be in use during one collection is not what stays.
func (s *soak) measure() reading {
	s.Helper()
	lowest := s.awaitQuiet()
	last, seen := lowest.collected, 0
	s.eventually(fmt.Sprintf("%d garbage collections", collections), func() error {
		for range 20 {
			r, err := s.scraper.read()
			switch {
			case err != nil:
				return err
			case r.process != lowest.process:
				lowest, last, seen = r, r.collected, 0
				continue
			case r.collected > last:
				lowest.live, last, seen = min(lowest.live, r.live), r.collected, seen+1
			}
			lowest.goroutines, lowest.resident = min(lowest.goroutines, r.goroutines), r.resident
			if seen >= collections {
				return nil
			}
		}
		return fmt.Errorf("%d since %.0f", seen, last)
	})
	s.Log(lowest)
	return lowest
}
