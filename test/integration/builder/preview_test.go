package builder_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/test/testcluster"
)

// release is a version of a program: it has a ConfigMap for each child of a widget, and a Deployment.
type release struct {
	version string           // in the ConfigMaps of widgets whose name ends in an even digit
	drop    string           // a child that it no longer has
	image   string           // of the widgets that have data
	fewer   int32            // replicas less
	policy  corev1.DNSPolicy // empty: the default
	reports bool             // the builder reports the result in the status
	source  string           // in the status; "now" is the time of the pass
	expires bool             // widgets without children are deleted
}

func (r release) plan(owner *Widget, view builder.View) builder.Plan[*Widget] {
	p := builder.Plan[*Widget]{Prune: []client.Object{&corev1.ConfigMap{}, &appsv1.Deployment{}}}
	for _, child := range owner.Spec.Children {
		if child == r.drop {
			continue
		}
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-" + child}, Data: map[string]string{"of": owner.Name}}
		if r.version != "" && strings.ContainsAny(owner.Name[len(owner.Name)-1:], "02468") {
			c.Data["version"] = r.version
		}
		p.Children = append(p.Children, builder.Want(c))
	}
	if owner.Spec.Replicas != nil {
		d := webDeployment()
		d.Name = owner.Name + "-web"
		d.Spec.Replicas = new(max(0, *owner.Spec.Replicas-r.fewer))
		if len(owner.Spec.Data) > 0 && r.image != "" {
			d.Spec.Template.Spec.Containers[0].Image = r.image
		}
		d.Spec.Template.Spec.DNSPolicy = r.policy
		p.Children = append(p.Children, builder.Want(d))
	}
	p.Report = r.reports
	if r.source != "" {
		p.Status = owner.DeepCopy()
		p.Status.Status.Source = r.source
		if r.source == "now" {
			p.Status.Status.Source = view.Now.UTC().Format(time.RFC3339)
		}
	}
	p.DeleteOwner = r.expires && len(owner.Spec.Children) == 0
	return p
}

// operator is the release's in a manager, for the widgets of a namespace.
func (r release) operator(mgr manager.Manager, ns string) error {
	return builder.NewOperator[*Widget](mgr, "widget-releases").
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Plan(func(owner *Widget, view builder.View) builder.Plan[*Widget] {
			if owner.Namespace != ns {
				return builder.Plan[*Widget]{}
			}
			return r.plan(owner, view)
		}).
		Complete()
}

// previewOf is what a release would do, and the requests of the preview.
func (w *world) previewOf(r release) (*preview.Report, []string) {
	w.t.Helper()
	return w.previewWith(testcluster.Config(w.t), r)
}

// previewWith does so with the credentials of a configuration.
func (w *world) previewWith(config *rest.Config, r release) (*preview.Report, []string) {
	w.t.Helper()
	sent := &ledger{}
	mgr := preview.Around(newManager(w.t, sent.watch(config)))
	require.NoError(w.t, r.operator(mgr, w.ns))
	report, err := mgr.Run(w.ctx)
	require.NoError(w.t, err)
	return report, sent.all()
}

// reader is a connection of a user who may read everything, and write nothing.
func (w *world) reader() *rest.Config {
	w.t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: w.ns}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: w.ns},
	}
	for _, obj := range []client.Object{role, binding} {
		require.NoError(w.t, w.live.Create(w.ctx, obj))
		w.t.Cleanup(func() { assert.NoError(w.t, w.live.Delete(context.Background(), obj)) })
	}
	config := testcluster.Config(w.t)
	config.Impersonate.UserName = w.ns
	return config
}

// run lets a release run until nothing of it is left to do and what else is given has happened, and returns its requests.
func (w *world) run(r release, until ...func() bool) []string {
	w.t.Helper()
	sent := &ledger{}
	mgr := newManager(w.t, sent.watch(testcluster.Config(w.t)))
	require.NoError(w.t, r.operator(mgr, w.ns))
	stop := start(w.t, mgr)
	defer stop()
	w.eventually(func() bool {
		for _, happened := range until {
			if !happened() {
				return false
			}
		}
		report, _ := w.previewOf(r)
		return report.Changed == 0 && report.StatusOnly == 0
	}, "the release to have done everything")
	return sent.all()
}

// children are the writes of children among requests, sorted, each once, as if none was a dry run.
func children(requests []string) []string {
	var all []string
	for _, r := range requests {
		if strings.HasPrefix(r, "GET ") || strings.Contains(r, "/events") || strings.Contains(r, "/widgets") {
			continue
		}
		all = append(all, strings.TrimSuffix(r, " (dry run)"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ofOwners are the writes of widgets themselves among requests, as children has those of their children.
func ofOwners(requests []string) []string {
	var all []string
	for _, r := range requests {
		if !strings.HasPrefix(r, "GET ") && strings.Contains(r, "/widgets") {
			all = append(all, strings.TrimSuffix(r, " (dry run)"))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The preview of many unchanged owners sends no request for one of them. docs/upgrade.md has its time.
func TestPreviewOfManyOwners(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	n := testsize.Pick(20, 1000)
	for i := range n {
		require.NoError(t, w.live.Create(w.ctx, &Widget{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: fmt.Sprintf("w%d", i)}, Spec: WidgetSpec{Children: []string{"a"}},
		}))
	}
	r := release{source: "first", reports: true}
	w.run(r, func() bool {
		var all WidgetList
		require.NoError(t, w.live.List(w.ctx, &all, client.InNamespace(w.ns)))
		return !slices.ContainsFunc(all.Items, func(one Widget) bool { return one.Status.Source != "first" })
	})
	began := time.Now()
	report, requests := w.previewOf(r)
	t.Logf("%s, in %s", report.Summary(), time.Since(began).Round(10*time.Millisecond))
	assert.GreaterOrEqual(t, report.Unchanged, n)
	requests = slices.DeleteFunc(requests, func(r string) bool { return !strings.Contains(r, w.ns) }) // of widgets of other tests
	assert.Empty(t, requests, "beside lists and watches")
}

// The preview of a release is what happens when it runs, write by write; and the preview itself writes nothing.
func TestPreviewIsWhatHappens(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	random := rand.New(rand.NewPCG(7, 7))
	const widgets = 30
	for i := range widgets {
		widget := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: fmt.Sprintf("w%d", i)}}
		for _, child := range []string{"a", "b", "c"} {
			if random.IntN(2) == 0 {
				widget.Spec.Children = append(widget.Spec.Children, child)
			}
		}
		if random.IntN(3) > 0 {
			widget.Spec.Replicas = new(random.Int32N(3))
		}
		if random.IntN(3) == 0 {
			widget.Spec.Data = map[string]string{"image": "yes"}
		}
		require.NoError(t, w.live.Create(w.ctx, widget))
	}
	first := release{image: "registry.example/web:1", source: "first"}
	assert.NotEmpty(t, children(w.run(first)))

	// The same release changes nothing, and asks nothing.
	report, requests := w.previewOf(first)
	assert.Equal(t, fmt.Sprintf("%d owners: %d unchanged", report.Owners, report.Owners), report.Summary())
	assert.Empty(t, children(requests))
	assert.Empty(t, ofOwners(requests))

	// Someone changes an object by hand: that is drift.
	var maps corev1.ConfigMapList
	require.NoError(t, w.live.List(w.ctx, &maps))
	edited := ""
	for i := range maps.Items {
		if m := &maps.Items[i]; m.Namespace == w.ns && strings.HasPrefix(m.Name, "w") && strings.HasSuffix(m.Name, "1-a") {
			m.Data["of"] = "someone else"
			require.NoError(t, w.live.Update(w.ctx, m))
			edited = m.Name
			break
		}
	}
	require.NotEmpty(t, edited)

	second := release{image: "registry.example/web:2", version: "2", drop: "c", fewer: 1, source: "second"}
	report, requests = w.previewOf(second)
	for _, r := range requests {
		assert.True(t, strings.HasPrefix(r, "GET ") || strings.HasSuffix(r, "(dry run)"), r)
	}
	assert.Zero(t, report.Refused)
	kinds := map[string]bool{}
	for _, o := range report.Details {
		assert.Equal(t, []preview.Field{{Path: "status.source", Old: "first", New: "second"}}, o.Status, o.Name)
		for _, c := range o.Changes {
			kinds[c.Operation] = true
			isEdited := strings.HasSuffix(c.Object, "/"+edited)
			assert.Equal(t, isEdited, c.Drift, c.Object)
			switch {
			case c.Operation == "delete":
				assert.Equal(t, "deleted", c.Disruption)
				assert.True(t, strings.HasSuffix(c.Object, "-c"), c.Object)
			case strings.HasPrefix(c.Object, "ConfigMap"):
				assert.Empty(t, c.Disruption)
			default:
				fields := fmt.Sprint(c.Fields)
				assert.Equal(t, strings.Contains(fields, "registry.example/web:2"), strings.Contains(c.Disruption, "restarts pods"), fields)
				assert.Equal(t, strings.Contains(fields, "spec.replicas"), strings.Contains(c.Disruption, "scaled down from"), fields)
			}
		}
	}
	assert.Equal(t, map[string]bool{"update": true, "delete": true}, kinds)

	// Who may only read gets the same report, computed without the API server.
	estimated, _ := w.previewWith(w.reader(), second)
	assert.Equal(t, []string{"delete ConfigMap", "patch ConfigMap", "patch Deployment.apps", "patch Widget.test.armature.dev"},
		estimated.Estimated)
	assert.Zero(t, estimated.Refused)
	assert.Equal(t, report.Details, estimated.Details) // the counts include the widgets of other tests

	// A default of the API server isn't a change.
	same := second
	same.policy = corev1.DNSClusterFirst
	_, alike := w.previewOf(same)
	assert.Subset(t, children(alike), children(requests))

	sent := w.run(second)
	assert.Equal(t, children(requests), children(sent))
	assert.Equal(t, ofOwners(requests), ofOwners(sent))

	var text, markdown bytes.Buffer
	require.NoError(t, report.WriteText(&text, true))
	require.NoError(t, report.WriteMarkdown(&markdown))
	assert.Contains(t, text.String(), "update ConfigMap "+w.ns+"/"+edited+" (drift)\n      data.of: \"someone else\" -> ")
	assert.Contains(t, text.String(), `image: "registry.example/web:1" -> "registry.example/web:2"`)
	assert.Contains(t, markdown.String(), "| delete ConfigMap "+w.ns+"/")
	t.Log(text.String())
}

// A preview has the writes of the owners' status, and deletions of owners, apart from the other changes.
func TestPreviewOfTheOwnersThemselves(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	names := []string{"paused", "w0", "w1", "w2", "web"}
	for _, name := range names {
		widget := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: WidgetSpec{Children: []string{"a"}}}
		switch name {
		case "w0":
			widget.Spec.Children = nil
		case "web":
			widget.Spec.Replicas, widget.Spec.Data = new(int32(0)), map[string]string{"image": "yes"}
		}
		require.NoError(t, w.live.Create(w.ctx, widget))
	}
	first := release{image: "registry.example/web:1", reports: true, source: "first"}
	w.run(first, func() bool { // the Deployment's controller has observed it
		web := &Widget{}
		require.NoError(t, w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: "web"}, web))
		return meta.IsStatusConditionTrue(web.Status.Conditions, events.ConditionReady)
	})
	report, requests := w.previewOf(first)
	assert.Empty(t, report.Details)
	assert.Empty(t, ofOwners(requests))
	paused := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "paused"}}
	require.NoError(t, w.live.Patch(w.ctx, paused,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"armature.dev/paused":"true"}}}`))))

	// Another release says something else in the status: not a child changes.
	second := release{image: "registry.example/web:1", reports: true, source: "second"}
	report, requests = w.previewOf(second)
	source := []preview.Field{{Path: "status.source", Old: "first", New: "second"}}
	require.Len(t, report.Details, len(names))
	assert.Equal(t, "paused", report.Details[0].Name)
	assert.Contains(t, report.Details[0].Status, preview.Field{Path: "status.conditions[type=Paused].status", New: "True"})
	for i, name := range names[1:] {
		assert.Equal(t, preview.Owner{Kind: "Widget", Namespace: w.ns, Name: name, Status: source}, report.Details[i+1])
	}
	assert.Equal(t, []int{len(names), 0, 0, 0}, []int{report.StatusOnly, report.Changed, report.Disruptive, report.Refused})
	for _, r := range requests {
		assert.True(t, strings.HasPrefix(r, "GET ") || strings.HasSuffix(r, "(dry run)"), r)
	}
	reader := w.reader()
	estimated, _ := w.previewWith(reader, second)
	assert.Equal(t, []string{"patch Widget.test.armature.dev"}, estimated.Estimated)
	assert.Equal(t, report.Details, estimated.Details)
	assert.Len(t, ofOwners(requests), len(names))
	assert.Equal(t, ofOwners(requests), ofOwners(w.run(second)))

	// A time in the status isn't a change when a later one replaces it.
	beating := release{image: "registry.example/web:1", reports: true, source: "now"}
	w.run(beating)
	report, requests = w.previewOf(beating)
	assert.Empty(t, report.Details)
	assert.Empty(t, ofOwners(requests))

	// The status of an owner whose child changes follows from that, and a deleted owner is a disruption.
	third := release{image: "registry.example/web:3", reports: true, source: "now", version: "3", expires: true}
	report, requests = w.previewOf(third)
	require.Len(t, report.Details, 3)
	assert.Equal(t, preview.Owner{Kind: "Widget", Namespace: w.ns, Name: "w0", Changes: []preview.Change{
		{Object: "Widget.test.armature.dev " + w.ns + "/w0", Operation: "delete", Disruption: "deleted"},
	}}, report.Details[0])
	assert.Equal(t, "w2", report.Details[1].Name)
	assert.Empty(t, report.Details[1].Status, "a changed ConfigMap is ready")
	assert.Equal(t, "web", report.Details[2].Name)
	assert.Contains(t, report.Details[2].Status, preview.Field{Path: "status.conditions[type=Ready].status", Old: "True", New: "False"})
	assert.Equal(t, []int{0, 3, 2}, []int{report.StatusOnly, report.Changed, report.Disruptive})
	widgets := "/apis/test.armature.dev/v1/namespaces/" + w.ns + "/widgets/"
	assert.Equal(t, []string{"DELETE " + widgets + "w0", "PATCH " + widgets + "web/status"}, ofOwners(requests))
	estimated, _ = w.previewWith(reader, third)
	assert.Equal(t, report.Details, estimated.Details)
}

// What the API server refuses is a problem in the report.
func TestPreviewSaysWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "w1"}}
	widget.Spec.Replicas, widget.Spec.Data = ptr.To[int32](1), map[string]string{"image": "yes"}
	require.NoError(t, w.live.Create(w.ctx, widget))
	report, requests := w.previewOf(release{policy: "Never"})
	assert.Equal(t, 1, report.Refused)
	require.Len(t, report.Details, 1)
	require.Len(t, report.Details[0].Problems, 1)
	assert.Contains(t, report.Details[0].Problems[0], `spec.template.spec.dnsPolicy: Unsupported value: "Never"`)
	assert.Equal(t, []string{"POST /apis/apps/v1/namespaces/" + w.ns + "/deployments"}, children(requests))
}
