package lab

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
	var r Requests
	r.add("POST jobs")
	r.add("POST jobs")
	assert.Equal(t, map[string]int{"POST jobs": 2}, r.Take())
	assert.Empty(t, r.Take())
}
