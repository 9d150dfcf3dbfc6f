package jobs

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestResourceOf(t *testing.T) {
	for path, want := range map[string]string{
		"/apis/batch/v1/namespaces/a/jobs":                               "jobs",
		"/apis/batch/v1/namespaces/a/jobs/x":                             "jobs",
		"/apis/api.practice.com/v1alpha1/namespaces/a/jobflows/x/status": "jobflows/status",
		"/apis/api.practice.com/v1alpha1/jobflows":                       "jobflows",
		"/api/v1/nodes":               "nodes",
		"/api/v1/namespaces/a":        "namespaces",
		"/api/v1/namespaces/a/pods/x": "pods",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x.y/status": "customresourcedefinitions/status",
		"/api":  "/api",
		"/apis": "/apis",
	} {
		assert.Equal(t, want, resourceOf(path), path)
	}
}

func TestRequestsAreTakenOnce(t *testing.T) {
	var r requests
	r.add("POST jobs")
	r.add("POST jobs")
	assert.Equal(t, map[string]int{"POST jobs": 2}, r.take())
	assert.Empty(t, r.take())
}

func TestPercentile(t *testing.T) {
	assert.Zero(t, percentile(nil, 50))
	times := []float64{5, 1, 4, 2, 3}
	assert.InDelta(t, 3, percentile(times, 50), 0)
	assert.InDelta(t, 5, percentile(times, 99), 0)
	assert.InDelta(t, 1, percentile(times, 0), 0)
}
