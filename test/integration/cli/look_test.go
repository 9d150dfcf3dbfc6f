package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/testcluster"
)

func TestTree(t *testing.T) {
	p := newPlace(t)
	p.create(flowOf("bad", node("a", "true"), node("b", "exit 3", "a"), node("c", "true", "b")))
	many := flowOf("many")
	for i := range 21 {
		many.Spec.Flows = append(many.Spec.Flows, node(fmt.Sprint("n", i), "true"))
	}
	many.Spec.Suspend = true // its Jobs aren't made: it is resumed below
	p.create(many)
	p.waitState("bad", v1alpha1.StateFailed)

	var out string
	p.Eventually("its Jobs say so themselves", func() bool {
		out = p.succeeds("tree", "jf/bad")
		return regexp.MustCompile(`Job/bad-a +Complete `).MatchString(out) && regexp.MustCompile(`Job/bad-b +Failed `).MatchString(out)
	}, func() any { return out })
	lines := strings.Split(out, "\n")
	require.Len(t, lines, 7, out)
	assert.Regexp(t, `^NAME +STATE +AGE$`, lines[0])
	assert.Regexp(t, `^JobFlow/bad +Failed 3/3 +[\dms]+$`, lines[1])
	assert.Regexp(t, `^├─ Job/bad-a +Complete +[\dms]+$`, lines[2])
	assert.Regexp(t, `^│  └─ Pod/bad-a-\w+ +Succeeded +[\dms]+$`, lines[3])
	assert.Regexp(t, `^└─ Job/bad-b +Failed +[\dms]+$`, lines[4])
	assert.Regexp(t, `^   └─ Pod/bad-b-\w+ +Failed, exit code 3 +[\dms]+$`, lines[5])
	assert.Regexp(t, `Pod/bad-b-\w+ +Failed, exit code 3 +[\dms]+ +(minikube|node-\d)\n`, p.succeeds("tree", "jf", "bad", "-o", "wide"))
	assert.Contains(t, p.succeeds("tree", "jf/bad", "-o", "name"), "jobflow.api.practice.com/bad\njob.batch/bad-a\npod/bad-a-")
	var root struct {
		Kind, Name, State string
		Owned             []struct{ Kind, Name, State string }
	}
	require.NoError(t, json.Unmarshal([]byte(p.succeeds("tree", "jf/bad", "-o", "json")), &root))
	assert.Equal(t, "JobFlow", root.Kind)
	require.Len(t, root.Owned, 2)
	assert.Equal(t, "Complete", root.Owned[0].State)

	p.succeeds("resume", "jf/many")
	p.waitState("many", v1alpha1.StateSucceed)
	p.Eventually("all Jobs say so themselves", func() bool {
		return strings.Contains(p.succeeds("tree", "jf/many"), "\n└─ 21 Jobs: 21 Complete\n")
	})
	assert.Equal(t, 44, strings.Count(p.succeeds("tree", "jf/many", "--all"), "\n"), "each Job, and its pod")
	assert.Contains(t, p.fails("tree", "jf/none"), "not found")
}

func TestTreeOfSomeoneElsesKind(t *testing.T) {
	p := newPlace(t)
	testcluster.InstallCRDs(t, "test/integration/builder/testdata/crd")
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("test.armature.dev/v1")
	widget.SetKind("Widget")
	widget.SetName("w")
	p.create(widget)
	refs := []metav1.OwnerReference{{APIVersion: "test.armature.dev/v1", Kind: "Widget", Name: "w", UID: widget.GetUID()}}
	p.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", OwnerReferences: refs}})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work", OwnerReferences: refs}, Spec: *node("a", "exit 9").JobTemplate}
	job.Spec.Template.Spec.RestartPolicy, job.Spec.BackoffLimit = corev1.RestartPolicyNever, new(int32(0))
	p.create(job)
	p.Eventually("its Job's pod to fail", func() bool {
		return strings.Contains(p.succeeds("tree", "widget/w"), "Failed, exit code 9")
	})
	assert.Regexp(t, `^NAME .*\nWidget/w .*\n├─ ConfigMap/settings .*\n└─ Job/work .*\n   └─ Pod/work-\w+ .*\n$`, p.succeeds("tree", "widget/w"))
	out, _, code := p.armature("explain", "widget/w")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "container main exited with code 9")
}

func TestLogs(t *testing.T) {
	p := newPlace(t)
	p.create(flowOf("talk", node("a", "echo one; sleep 1; echo two"), node("b", "echo three", "a")))
	followed := p.succeeds("logs", "jf/talk", "--follow", "--max-log-requests=1") // one container runs at a time
	p.waitState("talk", v1alpha1.StateSucceed)
	all := p.succeeds("logs", "jf/talk")
	assert.Regexp(t, `^talk-a-\w{5} \| one\ntalk-a-\w{5} \| two\ntalk-b-\w{5} \| three\n$`, all)
	assert.Equal(t, all, followed, "what is followed is what there is in the end")
	assert.Regexp(t, `^talk-a-\w{5} \| two\n$`, p.succeeds("logs", "jf", "talk", "a", "--tail=1"))
	assert.Regexp(t, `^talk-b-\w{5} \| 20\d\d-\d\d-\d\dT[\d:.]+Z three\n$`, p.succeeds("logs", "jf/talk", "b", "--timestamps", "-c", "main"))
	assert.Equal(t, all, p.succeeds("logs", "jf/talk", "--since=1h"))
	assert.Regexp(t, `^talk-b-\w{5} \| three\n$`, p.succeeds("logs", "job/talk-b"))
	assert.Contains(t, p.fails("logs", "jf/talk", "c"), `jobflow/talk has no pods of "c"; it has those of a, b`)
	assert.Contains(t, p.fails("logs", "jf/talk", "--max-log-requests=1"), "2 containers have started, and --max-log-requests is 1")
	assert.Contains(t, p.fails("logs", "jf/talk", "-c", "none"), `no container of jobflow/talk is called "none"; there are main`)
	assert.Contains(t, p.fails("logs", "jf/talk", "a", "b"), "want KIND/NAME [NODE]")
}

func TestQueue(t *testing.T) {
	p := newPlaceAlone(t)
	p.createQueue(p.Namespace)
	p.create(fluxJob("one", p.Namespace, 1))
	p.waitReason("one", v1alpha1.FluxJobStarting, "")
	p.create(fluxJob("two", p.Namespace, 2))
	p.create(fluxJob("large", p.Namespace, 9))
	p.create(fluxJob("lost", "nosuch-"+p.Namespace, 1))
	p.waitReason("two", v1alpha1.FluxJobWaiting, v1alpha1.ReasonWaitingForQuota)
	p.waitReason("large", v1alpha1.FluxJobWaiting, v1alpha1.ReasonExceedsMaximumQuota)
	p.waitReason("lost", v1alpha1.FluxJobWaiting, v1alpha1.ReasonQueueNotFound)

	out := p.succeeds("queue", p.Namespace)
	assert.Contains(t, out, "FluxSetup/"+p.Namespace+"  Active  1 admitted, 2 waiting\n")
	assert.Regexp(t, `\n  RESOURCE +QUOTA +USED +FREE\n  miniClusters +1 +1 +0\n  pods +4 +1 +3\n`, out)
	assert.Regexp(t, `\n  ADMITTED +STATE +PODS +SINCE\n  `+p.Namespace+`/one +Starting +1 +[\dms]+\n`, out)
	assert.Regexp(t, `\n  1 +`+p.Namespace+`/two +[\dms]+ +WaitingForQuota: it requests 1 MiniCluster; the free quota of queue`, out)
	assert.Regexp(t, `\n  - +`+p.Namespace+`/large +[\dms]+ +ExceedsMaximumQuota: it requests 9 pods`, out)
	assert.Contains(t, p.succeeds("queue"), "FluxSetup/nosuch-"+p.Namespace+"  doesn't exist  0 admitted, 1 waiting\n")
	assert.Contains(t, p.succeeds("queue", p.Namespace, "-o", "wide"), "cpu=10k")
	assert.Equal(t, "fluxsetup.api.practice.com/"+p.Namespace+"\n", p.succeeds("queue", p.Namespace, "-o", "name"))
	p.tenantSeesHisJobs()
	var queues []struct {
		Name    string
		Waiting []struct{ Name, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(p.succeeds("queue", p.Namespace, "-o", "json")), &queues))
	require.Len(t, queues, 1)
	require.Len(t, queues[0].Waiting, 2)
	assert.Equal(t, "two", queues[0].Waiting[0].Name)
	assert.Contains(t, p.fails("queue", "nosuch"), "not found")
}

// tenantSeesHisJobs: a user of one namespace may not read FluxSetups, which are in none.
func (p *place) tenantSeesHisJobs() {
	p.T.Helper()
	p.create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, Subjects: []rbacv1.Subject{
		{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "tenant"},
	}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tenant"}})
	p.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"fluxjobs"}, Verbs: []string{"list"}},
	}})
	var out, errs string
	p.Eventually("the role is in force", func() bool {
		var code int
		out, errs, code = p.armature("queue", "--as=tenant")
		return code == 0
	})
	assert.Contains(p.T, out, "FluxSetup/"+p.Namespace+"  may not be read  2 waiting\n")
	assert.Regexp(p.T, `\n  1 +`+p.Namespace+`/two +[\dms]+ +WaitingForQuota: `, out)
	assert.Contains(p.T, errs, `cannot get resource "fluxsetups" in API group "api.practice.com" at the cluster scope`)
	assert.Contains(p.T, errs, `cannot list resource "fluxjobs" in API group "api.practice.com" at the cluster scope`)
}

// createQueue makes a queue for one job at a time, of at most 4 pods.
func (p *place) createQueue(name string) {
	p.T.Helper()
	queue := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.FluxSetupSpec{
		Quota: v1alpha1.FluxQuota{MiniClusters: new(int32(1)), Pods: new(int32(4))},
	}}
	require.NoError(p.T, p.Client.Create(p.T.Context(), queue))
	p.T.Cleanup(func() { _ = p.Client.Delete(context.Background(), queue) })
}

// fluxJob returns a FluxJob that gets no node, so that it keeps its share.
func fluxJob(name, queue string, size int32) *v1alpha1.FluxJob {
	return &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.FluxJobSpec{
		Queue: queue, Image: "busybox:1.28", Command: "hostname", Size: &size,
		Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10000")}},
	}}
}
