package cli

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// A preview says what the manager would do, with an exit code, and does none of it.
func TestPreview(t *testing.T) {
	p := connect(t)
	manager := binary.StartManager(t, p.Namespace)
	p.create(flowOf("running", node("a", "sleep 600")))
	p.waitState("running", v1alpha1.StateRunning)
	p.Eventually("nothing is left to do", func() bool {
		out, errs, code := p.armature("preview")
		require.Empty(t, errs)
		return code == 0 && out == "1 owner: 1 unchanged\n"
	})
	manager.Kill()

	p.create(flowOf("next", node("a", "true")))
	want := "Job.batch " + p.Namespace + "/next-a"
	for range 2 { // the first has not made it
		out, errs, code := p.armature("preview", "-o", "json")
		require.Equal(t, 2, code, errs)
		var report preview.Report
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.Len(t, report.Details, 1, out)
		require.Len(t, report.Details[0].Changes, 1)
		assert.Equal(t, want, report.Details[0].Changes[0].Object)
		assert.Equal(t, "create", report.Details[0].Changes[0].Operation)
	}
	out, _, code := p.armature("preview", "-o", "markdown")
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "| JobFlow "+p.Namespace+"/next | create "+want+" |")

	out, _, code = p.armature("preview", "--operators", "daemonjob")
	assert.Zero(t, code)
	assert.Contains(t, out, "0 owners")

	_, errs, code := p.armature("preview", "--operators", "cronjob")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, `there is no operator "cronjob"`)
}

// Credentials that may not read all that the operators read end a preview at once, with the missing permission.
func TestPreviewWithoutPermission(t *testing.T) {
	p := connect(t)
	name := p.Namespace
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}
	for _, obj := range []client.Object{role, binding} {
		require.NoError(t, p.Client.Create(t.Context(), obj))
		t.Cleanup(func() { assert.NoError(t, p.Client.Delete(context.Background(), obj)) })
	}
	_, errs, code := p.armature("preview", "--as", name)
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, `User "`+name+`" cannot list resource`)
}
