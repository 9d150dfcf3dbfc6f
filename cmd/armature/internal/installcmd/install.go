package installcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/crdskew"
)

const (
	// fieldOwner is whose the CRDs' fields are.
	fieldOwner = "armature-install"
	// establishTimeout is how long the API server has to serve what was applied.
	establishTimeout = 60 * time.Second
	pollEvery        = 100 * time.Millisecond

	// helmRelease is the annotation by which Helm knows what is its own.
	helmRelease = "meta.helm.sh/release-name"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// installer installs the desired CRDs in a cluster.
type installer struct {
	client dynamic.Interface
	wanted []*unstructured.Unstructured
	out    io.Writer

	dryRun, force bool
}

// run checks all CRDs before it writes the first.
func (in *installer) run(ctx context.Context) error {
	found := map[string]*unstructured.Unstructured{}
	var refused []error
	for _, want := range in.wanted {
		have, err := in.client.Resource(crds).Get(ctx, want.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("get the CRD %s: %w", want.GetName(), err)
		}
		found[want.GetName()] = have
		if err := in.check(have, want); err != nil {
			refused = append(refused, err)
		}
	}
	if len(refused) > 0 {
		return errors.Join(refused...)
	}
	for _, want := range in.wanted {
		if err := in.apply(ctx, found[want.GetName()], want); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a change that would lose data, or of a CRD that is being deleted or that another installer owns.
func (in *installer) check(have, want *unstructured.Unstructured) error {
	if err := notTerminating(have); err != nil {
		return err
	}
	stored, _, _ := unstructured.NestedStringSlice(have.Object, "status", "storedVersions")
	for _, version := range stored {
		if !slices.Contains(versionsOf(want), version) {
			return fmt.Errorf("the CRD %s has objects stored in the version %s, which this program doesn't know; it has %s: "+
				"migrate them first, see docs/upgrade.md",
				want.GetName(), version, strings.Join(versionsOf(want), ", "))
		}
	}
	if in.force {
		return nil
	}
	if release := have.GetAnnotations()[helmRelease]; release != "" {
		return fmt.Errorf("the CRD %s belongs to the Helm release %s: upgrade that, or use --force", want.GetName(), release)
	}
	if more := newer(have, want); len(more) > 0 {
		return fmt.Errorf("the CRD %s is newer than this program, which doesn't know %s: "+
			"objects would lose that at their next write; use the newer program, or --force",
			want.GetName(), crdskew.Summary(more))
	}
	return nil
}

// newer returns what a CRD of the cluster has and this program doesn't know.
func newer(have, want *unstructured.Unstructured) []string {
	return slices.DeleteFunc(crdskew.Missing(want, have), isFormer(have))
}

// isFormer returns a function that reports whether a field of a CRD is one that no operator reads any more. Those of
// jobflow-operator, whose kinds these were: lists of Jobs in the status, and the whole status of a JobTemplate. Those of a
// FluxSetup's status under a name from before v0.1.0: the operator writes them again under their new names.
func isFormer(have *unstructured.Unstructured) func(field string) bool {
	versions, _, _ := unstructured.NestedSlice(have.Object, "spec", "versions")
	ofTemplate := false
	for _, v := range versions {
		version, _ := v.(map[string]any)
		_, found, _ := unstructured.NestedFieldNoCopy(version,
			"schema", "openAPIV3Schema", "properties", "status", "properties", "dependencyList")
		ofTemplate = ofTemplate || found
	}
	return func(field string) bool {
		_, what, _ := strings.Cut(field, " ")
		switch what {
		case "status.jobStatusList", "status.dependencyList":
			return true
		case "status.pending", "status.admitted", "status.longestWaitSince", "status.marks":
			return have.GetName() == "fluxsetups."+v1alpha1.GroupVersion.Group
		case "status", "subresource status":
			return ofTemplate
		default:
			return false
		}
	}
}

func versionsOf(crd *unstructured.Unstructured) []string {
	all, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var names []string
	for _, v := range all {
		if version, ok := v.(map[string]any); ok {
			if name, ok := version["name"].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// apply writes a CRD and waits until it is served.
func (in *installer) apply(ctx context.Context, have, want *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	if in.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	got, err := in.client.Resource(crds).Apply(ctx, want.GetName(), want, options)
	if err != nil {
		return fmt.Errorf("apply the CRD %s: %w", want.GetName(), err)
	}
	did := outcome(have, want, got)
	if in.dryRun {
		fmt.Fprintf(in.out, "customresourcedefinition/%s %s (dry run)\n", want.GetName(), did)
		return nil
	}
	err = wait.PollUntilContextTimeout(ctx, pollEvery, establishTimeout, true, func(ctx context.Context) (bool, error) {
		now, err := in.client.Resource(crds).Get(ctx, want.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return isServed(now)
	})
	if err != nil {
		return fmt.Errorf("wait until the CRD %s is served: %w", want.GetName(), err)
	}
	fmt.Fprintf(in.out, "customresourcedefinition/%s %s\n", want.GetName(), did)
	return nil
}

// outcome names what became of a CRD. One that is newer than this program isn't upgraded, but replaced with --force.
func outcome(have, want, got *unstructured.Unstructured) string {
	switch {
	case have == nil:
		return "created"
	case have.GetGeneration() == got.GetGeneration():
		return "unchanged"
	case len(newer(have, want)) > 0:
		return "replaced"
	default:
		return "upgraded"
	}
}

// notTerminating returns an error for a CRD that is being deleted. The API server still accepts changes of it, and serves it until its last
// object is gone. Then the CRD is gone as well.
func notTerminating(crd *unstructured.Unstructured) error {
	since := crd.GetDeletionTimestamp()
	if since == nil {
		return nil
	}
	return fmt.Errorf("the CRD %s is being deleted (since %s), together with all its objects: wait until it is gone "+
		"(kubectl wait --for=delete crd/%[1]s), and install again", crd.GetName(), since.UTC().Format(time.RFC3339))
}

// isServed reports whether the API server serves the objects of a CRD. A CRD that is being deleted is an error.
func isServed(crd *unstructured.Unstructured) (bool, error) {
	if err := notTerminating(crd); err != nil {
		return false, err
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == "Established" && condition["status"] == "True"
	}), nil
}
