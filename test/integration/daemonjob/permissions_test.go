package daemonjob

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// documented is the role that the documentation gives.
func documented(t *testing.T) *rbacv1.ClusterRole {
	text, err := os.ReadFile(root + "/docs/daemonjob.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(text), "```yaml\n")
	require.True(t, found)
	block, _, found = strings.Cut(block, "```\n")
	require.True(t, found)
	role := &rbacv1.ClusterRole{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(block), role))
	return role
}

// TestPermissions runs the operator with the rights that the documentation lists, lets it do all that it ever does, and
// holds what it asked for against the list.
func TestPermissions(t *testing.T) {
	p := newPlace(t)
	role := documented(t)
	role.Name = p.namespace
	user := "operator-of-" + p.namespace
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, obj := range []client.Object{role, binding} {
		require.NoError(t, p.client.Create(t.Context(), obj))
		t.Cleanup(func() { assert.NoError(t, p.client.Delete(context.Background(), obj)) })
	}

	var made requests
	p.addNode("a")
	b := p.addNode("b")
	stop := p.manage(made.record, func(c *rest.Config) { c.Impersonate.UserName = user })
	p.create(p.onPool("forever"))
	p.waitCounts("desired 2, active 2, succeeded 0, failed 0, waiting 0, skipped 0")
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Suspend = true })
	p.waitReason(v1alpha1.ReasonSuspended)
	p.removeNode(b)
	eventually(t, "its Job is deleted", func() bool { return len(p.jobs()) == 1 })
	p.edit(func(s *v1alpha1.DaemonJobSpec) {
		s.Suspend = false
		s.ActiveDeadlineSeconds = ptr.To[int64](1)
		s.TTLSecondsAfterFinished = ptr.To[int32](0)
	})
	eventually(t, "it is gone", func() bool {
		job := &v1alpha1.DaemonJob{}
		return apierrors.IsNotFound(p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "demo"}, job))
	})
	p.oneEvent("demo", v1alpha1.ReasonFailed)
	stop()

	allowed := map[string]bool{}
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			allowed[verb+" "+rule.Resources[0]+"."+rule.APIGroups[0]] = true
		}
	}
	used := map[string]bool{
		"patch events.events.k8s.io":                    true,                                          // to repeat an event, which the operator avoids
		"update daemonjobs/finalizers.api.practice.com": true,                                          // asked of whoever sets owner references; never done
		"get jobs.batch":                                true, "get daemonjobs.api.practice.com": true, // when the cache is behind
	}
	for _, r := range made.take() {
		verb := verbOf(r)
		if kind, isWatch := strings.CutPrefix(verb, "watch "); isWatch {
			used["list "+kind] = true // which a watch does by itself on servers that can
		}
		if verb != "" {
			used[verb] = true
		}
	}
	assert.Equal(t, sorted(allowed), sorted(used))
}

// verbOf names what a request asks for, as a role does: "create jobs.batch". Discovery is for everyone.
func verbOf(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch", http.MethodPut: "update", http.MethodDelete: "delete"}[r.Method]
	switch {
	case r.Method == http.MethodGet && len(parts) > 1:
		verb = "get"
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		verb = "watch"
	case r.Method == http.MethodGet:
		verb = "list"
	}
	return fmt.Sprintf("%s %s.%s", verb, resource, group)
}

func sorted(set map[string]bool) []string {
	var all []string
	for s := range set {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}
