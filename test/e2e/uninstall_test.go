//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// goBackAndUninstall does what docs/upgrade.md and docs/install.md say of the end: helm rollback brings the release before
// back, CRDs included, and flows run on it; helm uninstall leaves the CRDs and what users have, and nothing else.
func goBackAndUninstall() error {
	ctx := context.Background()
	chart, tag := previous()
	if err := helm("rollback", "armature", "1", "--wait", "--timeout=4m"); err != nil {
		return err
	}
	image, err := kubectl("get", deployment, "--namespace", home, "--output=jsonpath={.spec.template.spec.containers[0].image}")
	if err == nil && image != "armature:"+tag {
		err = fmt.Errorf("after the rollback the manager is %s", image)
	}
	if err != nil {
		return err
	}
	if err := crdsAreThoseOf(chart); err != nil {
		return err
	}
	namespace, err := startFlow(ctx)
	if err != nil {
		return fmt.Errorf("after the rollback: %w", err)
	}
	defer func() { _, _ = kubectl("delete", "namespace", namespace, "--wait=false") }()

	if err := helm("uninstall", "armature", "--wait", "--timeout=2m"); err != nil {
		return err
	}
	// Helm waits for the Deployment, and Kubernetes' garbage collection for no one: the pods go after it.
	if err := poll(ctx, "nothing to be left", nothingIsLeft); err != nil {
		return err
	}
	// What users have stays, and what runs goes on; nobody looks after it.
	if err := letGoOn(ctx, namespace); err != nil {
		return err
	}
	if _, err := kubectl("wait", "--namespace", namespace, "--for=condition=Complete", "job/long-n1", "--timeout=300s"); err != nil {
		return err
	}
	flow := &v1alpha1.JobFlow{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "long"}, flow); err != nil {
		return err
	}
	jobs, err := jobUIDs(ctx, namespace)
	if err == nil && len(jobs) != 2 {
		err = fmt.Errorf("without a manager there are the Jobs %v", jobs)
	}
	return err
}

// nothingIsLeft fails if there is still an object with the labels of the release, of whatever kind, or a CRD has gone.
func nothingIsLeft() error {
	kinds, err := kubectl("api-resources", "--verbs=list", "--output=name")
	if err != nil {
		return err
	}
	left, err := kubectl("get", strings.Join(strings.Fields(kinds), ","), "--all-namespaces", "--ignore-not-found",
		"--selector=app.kubernetes.io/name in (armature,armature-ui),app.kubernetes.io/instance=armature", "--output=name")
	if err == nil && strings.TrimSpace(left) != "" {
		err = fmt.Errorf("helm uninstall has left %s", left)
	}
	if err != nil {
		return err
	}
	crds, err := kubectl("get", "crds", "--output=name")
	if n := strings.Count(crds, ".api.practice.com"); err == nil && n != 7 {
		err = fmt.Errorf("helm uninstall has left %d CRDs of 7", n)
	}
	return err
}
