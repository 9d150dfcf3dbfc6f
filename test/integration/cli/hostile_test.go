package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// TestWhoMayNot: what is asked by someone who may only get Armature's kinds.
func TestWhoMayNot(t *testing.T) {
	p := newPlace(t)
	p.create(flowOf("long", node("a", "sleep 1000"), node("b", "true", "a")))
	p.waitState("long", v1alpha1.StateRunning)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "getter"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"api.practice.com"}, Resources: []string{"*"}, Verbs: []string{"get"}},
	}}
	p.create(role)
	p.create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "getter"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "getter"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "getter"}}})
	p.Eventually("the role is in force", func() bool {
		_, _, code := p.armature("graph", "jf/long", "--as=getter")
		return code == 0
	})
	for _, args := range [][]string{{"watch", "jf/long"}, {"logs", "jf/long"}, {"logs", "-f", "jf/long"}, {"suspend", "jf/long"}, {"queue"}} {
		assert.Contains(t, p.fails(append(args, "--as=getter")...), "forbidden", args)
	}
	out, errs, code := p.armature("explain", "jf/long", "--as=getter")
	assert.Equal(t, 2, code, "that nothing is wrong could not be found out")
	assert.Contains(t, out, "not all of its objects could be read")
	assert.Contains(t, errs, "not read: list Job")
	assert.Contains(t, errs, "not read: list events")
	out, errs, code = p.armature("tree", "jf/long", "--as=getter")
	assert.Zero(t, code)
	assert.Contains(t, out, "JobFlow/long")
	assert.Contains(t, errs, "not shown: list Job")

	out = p.succeeds("explain", "jf/long", "b")
	assert.Equal(t, "JobFlow/long: node \"b\" hasn't started: it waits for a (Running)\n", out)
	assert.Regexp(t, `^Job/long-a: (it runs: 1 pod|1 pod is starting.*)\n$`, p.succeeds("explain", "jf", "long", "a"))
	_, errs, code = p.armature("explain", "jf/long", "c")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, `JobFlow/long has no node "c"; it has a, b`)
}

// TestNoCluster: what is said where there is no cluster, once and without noise.
func TestNoCluster(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"watch", "jf/a"}, {"tree", "jf/a"}, {"explain", "jf/a"}, {"logs", "jf/a"}, {"graph", "jf/a"}, {"retry", "jf/a"}, {"queue"}} {
		_, errs, code := binary.Run(t, append(args, "--server=https://127.0.0.1:1")...)
		assert.NotZero(t, code, args)
		assert.Regexp(t, `^armature: .*no API server answers there\n$`, errs, args)
	}
}
