//go:build e2e

package upgrade

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// newDefaults are what the new build changes: pods of services get less time to end, which restarts them, and a port has another name,
// which disrupts nothing.
var newDefaults = []edit{
	{
		"operators/minicluster/objects.go", "	spec.Hostname = servicesName(c)\n",
		"	spec.Hostname = servicesName(c)\n	spec.TerminationGracePeriodSeconds = ptr.To[int64](1)\n",
	},
	{"operators/minicluster/objects.go", `{Name: "flux", Port: brokerPort,`, `{Name: "broker", Port: brokerPort,`},
}

// place is a namespace with owners.
type place struct {
	*harness.Place
	program string // the binary of the build that runs
	owners  []client.Object
}

// An upgrade of the bundled manager: random owners of all kinds that an old build made, of which one is paused, one was edited, and some
// wait for a manager. The new build previews. It is killed in the middle of what it then does, and ends it: that equals the preview,
// write by write. No write goes to a paused owner, and none to one that waits for its turn.
func TestManager(t *testing.T) {
	testcluster.InstallCRDs(t, "config/crd")
	former := binary.Path(t)
	next := build(t, "./cmd/armature", newDefaults...)
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { upgrade(t, former, next, rand.New(rand.NewPCG(seed, 0))) })
	}
	t.Run("from the previous commit", func(t *testing.T) { upgrade(t, previous(t), next, rand.New(rand.NewPCG(3, 0))) })
}

func upgrade(t *testing.T, former, next string, r *rand.Rand) {
	p := &place{Place: harness.New(t, "MiniCluster", 2*time.Minute), program: former}
	for i := range 3 + r.IntN(3) {
		p.create(withServices(fmt.Sprint("served-", i)))
	}
	for i := range 3 + r.IntN(4) {
		p.create(p.anyOwner(r, fmt.Sprint("any-", i)))
	}
	manager := p.start()
	for _, owner := range p.owners {
		p.Eventually(owner.GetName()+" runs", func() bool { return p.isRunning(owner) }, func() any { return p.fields(owner)["status"] })
	}
	p.quiet()
	manager.Stop()

	paused := p.owners[0].GetName()
	p.annotate(paused, map[string]string{"armature.dev/paused": "true"})
	p.edit(p.owners[1].GetName())
	p.create(&v1alpha1.JobFlow{ObjectMeta: p.meta("late"), Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{flow("a"), flow("b", "a")}}})

	p.program = next
	report := p.preview()
	want, disrupted := p.asWrites(report)
	require.GreaterOrEqual(t, len(disrupted), 2, "%+v", report)
	t.Logf("the preview: %s; disrupted: %s", strings.Join(want, ", "), disrupted)
	before := p.children()
	since := len(lines(t))

	// The new build changes the first owner, and is killed. Others wait.
	manager = p.start()
	p.Eventually("the first owner's turn", func() bool {
		return len(about(writes(t, p.Namespace, "armature", since), "deployments.apps")) > 0
	})
	manager.Kill()
	first := writes(t, p.Namespace, "armature", since)
	changed := about(first, "deployments.apps")
	names := slices.Compact(slices.Sorted(slices.Values(changed)))
	require.Len(t, names, 1, "one owner at a time: %v", changed)
	for _, name := range disrupted {
		if names[0] == "patch deployments.apps "+name+"-services" {
			continue
		}
		for _, w := range first {
			assert.False(t, strings.Contains(w, " "+name+"-") || strings.HasSuffix(w, " "+name) && !strings.Contains(w, "/status "),
				"%s waits for its turn: %s", name, w)
		}
	}
	assertUntouched(t, paused, first)
	for _, said := range []string{"abort aborted", "abort aborted (no change)", "resume resumed", "resume resumed (no change)"} {
		verb, end, _ := strings.Cut(said, " ")
		out, errs, _ := p.armature("rollout", verb, "minicluster")
		require.True(t, strings.HasSuffix(out, " "+end+"\n"), "%s%s", out, errs)
	}

	manager = p.start()
	p.Eventually("the roll-out is complete", func() bool {
		out, _, _ := p.armature("rollout", "status", "minicluster")
		return strings.Contains(out, "minicluster: Complete")
	})
	p.quiet()
	manager.Stop()

	// What happened is what the preview had said: which objects, and which fields.
	done := writes(t, p.Namespace, "armature", since)
	assertUntouched(t, paused, done)
	var got []string
	for _, w := range done {
		what := strings.Fields(w)
		isStatus := strings.HasSuffix(what[1], "/status")
		isRecord := what[1] == "controllerrevisions.apps" || what[1] == "configmaps" && strings.HasPrefix(what[2], "armature-")
		if !isStatus && !isRecord {
			got = append(got, w)
		}
	}
	slices.Sort(got)
	assert.Equal(t, want, slices.Compact(got))
	p.assertFields(report, before)
	assertStatuses(t, report, done)

	// And an owner's last disruptive change can be undone.
	manager = p.start()
	defer manager.Stop()
	_, errs, code := p.armature("undo", "minicluster/"+disrupted[0])
	require.Zero(t, code, errs)
	p.Eventually("it is undone", func() bool { return p.is(disrupted[0], events.ConditionUndone) })
	assert.Equal(t, int64(30), *p.services(disrupted[0]).Spec.Template.Spec.TerminationGracePeriodSeconds)
}

// assertStatuses compares the owners whose status a preview would change with those whose status was written. A change of children has
// later passes, which write the status, too.
func assertStatuses(t *testing.T, report preview.Report, done []string) {
	t.Helper()
	announced, follows := map[string]bool{}, map[string]bool{}
	for _, owner := range report.Details {
		announced[owner.Name] = len(owner.Status) > 0
		follows[owner.Name] = len(owner.Changes) > 0
	}
	written := map[string]bool{}
	for _, w := range done {
		if what := strings.Fields(w); strings.HasSuffix(what[1], "/status") {
			written[what[2]] = true
			assert.True(t, announced[what[2]] || follows[what[2]], "the preview hasn't announced: %s", w)
		}
	}
	for name, is := range announced {
		assert.True(t, !is || written[name], "the preview announced a change of the status of %s", name)
	}
}

func assertUntouched(t *testing.T, paused string, writes []string) {
	t.Helper()
	for _, w := range writes {
		name := strings.Fields(w)[2]
		assert.False(t, (name == paused || strings.HasPrefix(name, paused+"-")) && w != "patch miniclusters.api.practice.com/status "+paused,
			"it is paused: %s", w)
	}
}

func flow(name string, after ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: after, JobTemplate: &batchv1.JobSpec{Template: sleeping()}}
}

func sleeping() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](0), Containers: []corev1.Container{{
		Name: "main", Image: "busybox:1.28", Command: []string{"sleep", "600"},
	}}}}
}

func withServices(name string) *v1alpha1.MiniCluster {
	c := miniCluster(name)
	c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "busybox:1.28", Command: "exec sleep 600"}}
	return c
}

func miniCluster(name string) *v1alpha1.MiniCluster {
	return &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.MiniClusterSpec{
		Size: 1, Flux: v1alpha1.MiniClusterFlux{Disable: true},
		Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: "sleep 600"}},
	}}
}

// anyOwner returns a random owner of a random kind.
func (p *place) anyOwner(r *rand.Rand, name string) client.Object {
	switch r.IntN(4) {
	case 0:
		flows := []v1alpha1.Flow{flow("a")}
		for i := range r.IntN(3) {
			flows = append(flows, flow(string(rune('b'+i)), "a"))
		}
		return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.JobFlowSpec{Flows: flows}}
	case 1:
		return &v1alpha1.DaemonJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.DaemonJobSpec{
			Template: sleeping(),
		}}
	case 2:
		template := sleeping()
		return &v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ReplicaJobSpec{
			ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
				"Worker": {Replicas: new(int32(1 + r.IntN(2))), Template: template},
			},
		}}
	default:
		return miniCluster(name)
	}
}

func (p *place) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: p.Namespace, Name: name}
}

func (p *place) create(owner client.Object) {
	p.T.Helper()
	owner.SetNamespace(p.Namespace)
	require.NoError(p.T, p.Client.Create(p.T.Context(), owner))
	p.owners = append(p.owners, owner)
}

// start runs the build's manager. It has no lease, as there is no other one, so that a kill needs no wait.
func (p *place) start() *binary.Process {
	p.T.Helper()
	return binary.StartProgram(p.T, p.program, "manager", "--kubeconfig", testcluster.Kubeconfig(p.T), "--watch-namespaces", p.Namespace,
		"--leader-elect-namespace", p.Namespace, "--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")
}

// armature runs a command of the build.
func (p *place) armature(args ...string) (out, errs string, code int) {
	p.T.Helper()
	cmd := exec.CommandContext(p.T.Context(), p.program, append(args, "--kubeconfig", testcluster.Kubeconfig(p.T), "-n", p.Namespace)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // its exit code tells
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func (p *place) isRunning(owner client.Object) bool {
	require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKeyFromObject(owner), owner))
	fields := p.fields(owner)
	state, _, _ := unstructured.NestedString(fields, "status", "state")
	return state == "Running"
}

func (p *place) fields(obj client.Object) map[string]any {
	text, err := json.Marshal(obj)
	require.NoError(p.T, err)
	var fields map[string]any
	require.NoError(p.T, json.Unmarshal(text, &fields))
	return fields
}

// quiet waits until the build that runs has nothing left to do.
func (p *place) quiet() {
	p.T.Helper()
	p.Eventually("nothing is left to do", func() bool {
		_, _, code := p.armature("preview")
		return code == 0
	})
}

func (p *place) preview() preview.Report {
	p.T.Helper()
	out, errs, code := p.armature("preview", "-o", "json")
	require.Equal(p.T, 3, code, "%s%s", out, errs)
	var report preview.Report
	require.NoError(p.T, json.Unmarshal([]byte(out), &report))
	require.Zero(p.T, report.Refused, out)
	return report
}

// asWrites returns the writes that a preview announces, and the owners that it says are disrupted.
func (p *place) asWrites(report preview.Report) (writes, disrupted []string) {
	for _, owner := range report.Details {
		for _, c := range owner.Changes {
			kind, name, _ := strings.Cut(c.Object, " ")
			name = strings.TrimPrefix(name, p.Namespace+"/")
			kind, group, hasGroup := strings.Cut(kind, ".")
			resource := strings.ToLower(kind) + "s"
			if hasGroup {
				resource += "." + group
			}
			verb := map[string]string{"create": "create", "update": "patch"}[c.Operation]
			require.NotEmpty(p.T, verb, "%+v", c)
			writes = append(writes, verb+" "+resource+" "+name)
		}
		if owner.IsDisrupted() {
			disrupted = append(disrupted, owner.Name)
		}
	}
	slices.Sort(writes)
	return writes, disrupted
}

// children returns the ConfigMaps, Services and Deployments of the namespace by the names that a preview has.
func (p *place) children() map[string]map[string]any {
	p.T.Helper()
	all := map[string]map[string]any{}
	for kind, list := range map[string]client.ObjectList{
		"ConfigMap": &corev1.ConfigMapList{}, "Service": &corev1.ServiceList{}, "Deployment.apps": &appsv1.DeploymentList{},
	} {
		require.NoError(p.T, p.Client.List(p.T.Context(), list, client.InNamespace(p.Namespace)))
		require.NoError(p.T, meta.EachListItem(list, func(obj runtimeObject) error {
			o := obj.(client.Object)
			all[kind+" "+p.Namespace+"/"+o.GetName()] = p.fields(o)
			return nil
		}))
	}
	return all
}

// assertFields compares the fields that a preview announced with those that objects had, and have now.
func (p *place) assertFields(report preview.Report, before map[string]map[string]any) {
	p.T.Helper()
	after := p.children()
	compared := 0
	for _, owner := range report.Details {
		for _, c := range owner.Changes {
			for _, f := range c.Fields {
				if before[c.Object] == nil {
					continue // new
				}
				assert.EqualValues(p.T, f.Old, at(before[c.Object], f.Path), "%s %s", c.Object, f.Path)
				assert.EqualValues(p.T, f.New, at(after[c.Object], f.Path), "%s %s", c.Object, f.Path)
				compared++
			}
		}
	}
	assert.Greater(p.T, compared, 2)
}

// edit changes a ConfigMap of an owner, as someone does while no manager runs.
func (p *place) edit(owner string) {
	p.T.Helper()
	service := &corev1.Service{ObjectMeta: p.meta(owner)}
	require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKeyFromObject(service), service))
	service.Spec.PublishNotReadyAddresses = false
	require.NoError(p.T, p.Client.Update(p.T.Context(), service))
}

func (p *place) annotate(owner string, annotations map[string]string) {
	p.T.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	require.NoError(p.T, err)
	c := &v1alpha1.MiniCluster{ObjectMeta: p.meta(owner)}
	require.NoError(p.T, p.Client.Patch(p.T.Context(), c, client.RawPatch("application/merge-patch+json", patch)))
}

func (p *place) is(owner, condition string) bool {
	c := &v1alpha1.MiniCluster{}
	require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: owner}, c))
	return meta.IsStatusConditionTrue(c.Status.Conditions, condition)
}

func (p *place) services(owner string) *appsv1.Deployment {
	p.T.Helper()
	d := &appsv1.Deployment{}
	require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: owner + "-services"}, d))
	return d
}
