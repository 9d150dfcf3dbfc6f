package preview

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/immutable"
	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/payload"
)

// estimator is a client that answers dry runs itself if the credentials don't permit the write: a creation and a deletion succeed, and an
// apply has the result that package merge computes. It remembers which writes those were. The API server's defaults, its admission and
// what it would refuse are missing from such an answer.
type estimator struct {
	client.Client

	mu        sync.Mutex
	estimated map[string]struct{} // "patch Deployment.apps"
}

func newEstimator(c client.Client) *estimator {
	return &estimator{Client: c, estimated: map[string]struct{}{}}
}

// all returns the writes that the credentials don't permit.
func (e *estimator) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.estimated))
}

// instead reports whether to answer a dry run in place of the API server.
func (e *estimator) instead(err error, dryRun []string, verb string, obj client.Object) bool {
	// Quotas and admission plugins forbid, too, but only the authorizer says what a user cannot do.
	if len(dryRun) == 0 || !apierrors.IsForbidden(err) || !strings.Contains(apistatus.Message(err), " cannot "+verb+" resource ") {
		return false
	}
	gvk, gvkErr := apiutil.GVKForObject(obj, e.Scheme())
	if gvkErr != nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.estimated[verb+" "+gvk.GroupKind().String()] = struct{}{}
	return true
}

func (e *estimator) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	err := e.Client.Create(ctx, obj, opts...)
	options := (&client.CreateOptions{}).ApplyOptions(opts)
	// A trial is made to learn the API server's defaults.
	if !immutable.IsTrialName(obj.GetName()) && e.instead(err, options.DryRun, "create", obj) {
		return nil
	}
	return err
}

func (e *estimator) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	err := e.Client.Delete(ctx, obj, opts...)
	if e.instead(err, (&client.DeleteOptions{}).ApplyOptions(opts).DryRun, "delete", obj) {
		return nil
	}
	return err
}

func (e *estimator) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := e.Client.Patch(ctx, obj, patch, opts...)
	options := (&client.PatchOptions{}).ApplyOptions(opts)
	if patch.Type() != types.ApplyPatchType || !e.instead(err, options.DryRun, "patch", obj) {
		return err
	}
	return e.apply(ctx, obj, patch, options.FieldManager)
}

// apply sets obj to what an apply would make of the live object.
func (e *estimator) apply(ctx context.Context, obj client.Object, patch client.Patch, manager string) error {
	if err := e.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	live, err := payload.Stored(obj)
	if err != nil {
		return err
	}
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	desired := map[string]any{}
	if err := kjson.Unmarshal(body, &desired); err != nil {
		return err
	}
	delete(desired, "apiVersion")
	delete(desired, "kind")
	if meta, ok := desired["metadata"].(map[string]any); ok {
		delete(meta, "uid")
	}
	us := fieldmanager.Manager{Name: manager}
	managed, err := us.Managed(obj.GetManagedFields())
	if err != nil {
		return err
	}
	merged := merge.Run(merge.Objects{
		Live: live, Desired: desired, Ours: managed.Ours, Others: managed.Others,
		Fixed: managed.Subresources.Union(fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))), Plain: merge.IsPlain,
		// What was created and never applied owns the API server's defaults as well, and only the server can distinguish them.
		Drift: !us.HasApplied(obj.GetManagedFields()),
	}).Object
	obj.SetManagedFields(nil) // those of the live object aren't those after the apply
	if !equality.Semantic.DeepEqual(live["spec"], merged["spec"]) {
		obj.SetGeneration(obj.GetGeneration() + 1) // a workload isn't ready before its controller has observed it
	}
	return replace(obj, merged)
}

// replace sets the fields of an object, apart from its status and what only the API server writes.
func replace(obj client.Object, fields map[string]any) error {
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return err
	}
	meta, _ := all["metadata"].(map[string]any)
	maps.DeleteFunc(meta, func(name string, _ any) bool {
		return name == "labels" || name == "annotations" || name == "ownerReferences"
	})
	for _, name := range slices.Collect(maps.Keys(all)) {
		if _, stays := fields[name]; !stays && name != "apiVersion" && name != "kind" && name != "status" && name != "metadata" {
			delete(all, name)
		}
	}
	for name, value := range fields {
		if of, isMeta := value.(map[string]any); name == "metadata" && isMeta {
			maps.Copy(meta, of)
			continue
		}
		all[name] = value
	}
	return set(obj, all)
}

// set sets all fields of an object.
func set(obj client.Object, fields map[string]any) error {
	if u, untyped := obj.(*unstructured.Unstructured); untyped {
		u.Object = fields
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(fields, obj)
}
