package rbac

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
)

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func words(permissions []Permission) (all []string) {
	for _, p := range permissions {
		all = append(all, p.String())
	}
	return all
}

func TestOfRequest(t *testing.T) {
	for request, want := range map[string][]string{
		"GET /api":                                              nil,
		"GET /apis/batch/v1":                                    nil,
		"GET /api/v1/nodes":                                     {"list nodes"},
		"GET /api/v1/nodes?watch=true":                          {"watch nodes", "list nodes"},
		"GET /api/v1/namespaces/a/secrets/b":                    {"get secrets"},
		"POST /apis/batch/v1/namespaces/a/jobs":                 {"create jobs.batch"},
		"PUT /api/v1/namespaces/a/configmaps/b":                 {"update configmaps"},
		"DELETE /apis/batch/v1/namespaces/a/jobs/b":             {"delete jobs.batch"},
		"PATCH /apis/apps/v1/namespaces/a/deployments/b/status": {"patch deployments/status.apps"},
		"GET /api/v1/namespaces/a":                              {"get namespaces"},
	} {
		var method, url string
		for i := range request {
			if request[i] == ' ' {
				method, url = request[:i], request[i+1:]
			}
		}
		assert.Equal(t, want, words(OfRequest(httptest.NewRequest(method, url, nil))), request)
	}
}

func TestUnused(t *testing.T) {
	var u Usage
	rules := []rbacv1.PolicyRule{
		rule("batch", "jobs", "get", "list", "create", "delete"),
		rule("", "secrets", "get"),
		rule("a.b", "cs/finalizers", "update"),
		rule("events.k8s.io", "events", "create", "patch"),
	}
	u.Note(Permission{Verb: "create", Group: "batch", Resource: "jobs"}, Permission{Verb: "list", Group: "batch", Resource: "jobs"})
	assert.Equal(t, []string{"get secrets", "delete jobs.batch", "create events.events.k8s.io"}, words(u.Unused(rules)))
}

// The API server asks for bind and escalate while it handles other requests.
func TestNoRequestUsesBindAndEscalate(t *testing.T) {
	roles := rule("rbac.authorization.k8s.io", "clusterroles", "bind", "escalate")
	roles.ResourceNames = []string{"view"}
	assert.Empty(t, new(Usage).Unused([]rbacv1.PolicyRule{roles}))
}

func TestDiff(t *testing.T) {
	before := []rbacv1.PolicyRule{rule("", "pods", "list", "watch"), rule("batch", "jobs", "create"), rule("batch", "jobs", "list")}
	after := []rbacv1.PolicyRule{rule("batch", "jobs", "list", "create", "delete"), rule("", "pods", "list")}
	var all []string
	for _, c := range Diff(before, after) {
		all = append(all, c.String())
	}
	assert.Equal(t, []string{"- watch pods", "+ delete jobs.batch"}, all)
	assert.Empty(t, Diff(before, []rbacv1.PolicyRule{rule("batch", "jobs", "list", "create"), rule("", "pods", "watch", "list")}))
	everything := []rbacv1.PolicyRule{rule("*", "*", "*")}
	named := rule("", "secrets", "get")
	named.ResourceNames = []string{"a"}
	assert.True(t, Allows(everything, Permission{Verb: "get", Resource: "secrets"}))
	assert.False(t, Allows([]rbacv1.PolicyRule{named}, Permission{Verb: "get", Resource: "secrets"}))
	assert.True(t, Allows([]rbacv1.PolicyRule{named}, Permission{Verb: "get", Resource: "secrets", Name: "a"}))
}

// A rule about URLs is a permission like any other. A pattern grants what begins with it.
func TestURLs(t *testing.T) {
	urls := func(urls ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{NonResourceURLs: urls, Verbs: []string{"get"}}}
	}
	for name, c := range map[string]struct {
		before, after []rbacv1.PolicyRule
		want          []string
	}{
		"granted":              {nil, urls("*"), []string{"+ get nonResourceURL *"}},
		"revoked":              {urls("/metrics"), nil, []string{"- get nonResourceURL /metrics"}},
		"no resource":          {urls("*"), []rbacv1.PolicyRule{rule("*", "*", "get")}, []string{"+ get *.*", "- get nonResourceURL *"}},
		"the same":             {urls("/a", "/b"), urls("/b", "/a"), nil},
		"narrowed":             {urls("/debug/*"), urls("/debug/pprof/*"), []string{"- get nonResourceURL /debug/*"}},
		"only a whole segment": {urls("/a/*"), urls("/ab"), []string{"- get nonResourceURL /a/*", "+ get nonResourceURL /ab"}},
	} {
		var all []string
		for _, change := range Diff(c.before, c.after) {
			all = append(all, change.String())
		}
		assert.Equal(t, c.want, all, name)
	}
	assert.True(t, Allows(urls("*"), Permission{Verb: "get", URL: "/metrics"}))
	assert.False(t, Allows([]rbacv1.PolicyRule{rule("*", "*", "*")}, Permission{Verb: "get", URL: "/metrics"}))
	assert.Equal(t, urls("/a", "/b"), rulesOf(Permissions(urls("/b", "/a"))))
	assert.Empty(t, new(Usage).Unused(urls("/metrics")), "no request is noted")
}
