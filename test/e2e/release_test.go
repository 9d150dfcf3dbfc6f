//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

const deployment = "deployment/armature"

// previous is the chart of the release before this one, and the tag of its image. Without E2E_PREVIOUS it is this one.
func previous() (chart, tag string) {
	if dir := os.Getenv("E2E_PREVIOUS"); dir != "" {
		return filepath.Join(dir, "charts", "armature"), "previous"
	}
	return filepath.Join(root, "charts", "armature"), os.Getenv("E2E_IMAGE_TAG")
}

// upgraded is what there was at the upgrade: the flow that ran, and its Jobs with their UIDs.
var upgraded struct {
	namespace string
	jobs      map[string]string
}

// upgradeInTheMiddleOfAFlow installs the previous release, starts a flow, and upgrades while its second Job runs.
func upgradeInTheMiddleOfAFlow() error {
	ctx := context.Background()
	chart, tag := previous()
	// It isn't waited for: in the first release pods weren't ready before a kubelet had brought them the webhook's certificate,
	// which took up to two minutes, but its operators worked.
	if err := helm("install", "armature", chart, "--create-namespace", "--set", "image.tag="+tag, "--set", "webhook.enabled=true"); err != nil {
		return err
	}
	namespace, err := startFlow(ctx)
	if err != nil {
		return err
	}
	if err := poll(ctx, "the webhook's certificate", func() error {
		secret := &corev1.Secret{}
		if err := cluster.Get(ctx, client.ObjectKey{Namespace: home, Name: "armature-webhook"}, secret); err != nil {
			return err
		}
		if len(secret.Data["tls.crt"]) == 0 {
			return errors.New("there is none")
		}
		return nil
	}); err != nil {
		return err
	}
	upgraded.namespace = namespace
	if upgraded.jobs, err = jobUIDs(ctx, namespace); err != nil {
		return err
	}
	if err := makePageCertificate(ctx); err != nil {
		return err
	}
	// The annotation makes pods new also where the previous release is this one.
	if err := helm("upgrade", "armature", filepath.Join(root, "charts", "armature"), "--reset-then-reuse-values", "--wait", "--timeout=4m",
		"--set", "image.tag="+os.Getenv("E2E_IMAGE_TAG"), "--set", "podAnnotations.e2e=upgraded",
		"--set", "ui.enabled=true,ui.certificateSecret="+pageCertificate,
		// Managers that are killed are replaced soon.
		"--set", "leaderElection.leaseDuration=4s,leaderElection.renewDeadline=3s,leaderElection.retryPeriod=500ms"); err != nil {
		return err
	}
	// Before the faults begin: what happens to nodes would happen to its pod, too.
	return letGoOn(ctx, namespace)
}

// startFlow starts a flow of three Jobs in a new namespace, and returns when the second one runs, until it is let go on.
func startFlow(ctx context.Context) (namespace string, err error) {
	if namespace, err = newNamespace(ctx); err != nil {
		return "", err
	}
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "long"}}
	for i, script := range []string{"true", "until [ -e /tmp/go-on ]; do sleep 0.2; done", "true"} {
		node := v1alpha1.Flow{Name: fmt.Sprint("n", i), JobTemplate: &batchv1.JobSpec{Template: shell(script)}}
		if i > 0 {
			node.Dependencies = []string{fmt.Sprint("n", i-1)}
		}
		flow.Spec.Flows = append(flow.Spec.Flows, node)
	}
	// The API server may not know the CRDs at once.
	if err := poll(ctx, "the flow", func() error { return client.IgnoreAlreadyExists(cluster.Create(ctx, flow)) }); err != nil {
		return "", err
	}
	return namespace, poll(ctx, "its second Job to run", func() error {
		pods, err := kubectl("get", "pods", "--namespace", namespace, "--selector=job-name=long-n1", "--output=jsonpath={.items[*].status.phase}")
		if err == nil && pods != "Running" {
			err = fmt.Errorf("it is %q", pods)
		}
		return err
	})
}

// letGoOn lets the second Job of a flow end.
func letGoOn(ctx context.Context, namespace string) error {
	return poll(ctx, "the second Job to be told", func() error {
		_, err := kubectl("exec", "--namespace", namespace, "job/long-n1", "--", "touch", "/tmp/go-on")
		return err
	})
}

func jobUIDs(ctx context.Context, namespace string) (map[string]string, error) {
	jobs := &batchv1.JobList{}
	if err := cluster.List(ctx, jobs, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	uids := map[string]string{}
	for _, job := range jobs.Items {
		uids[job.Name] = string(job.UID)
	}
	return uids, nil
}

// What ran when Armature was upgraded goes on to its end, and the CRDs are those of this release.
func TestUpgradeInTheMiddleOfAFlow(t *testing.T) {
	t.Parallel()
	t.Run("from the previous release", func(t *testing.T) {
		if os.Getenv("E2E_PREVIOUS") == "" {
			t.Skip("this clone doesn't have it: the upgrade was from this release to itself")
		}
	})
	s := useSpace(t, upgraded.namespace)
	require.Len(t, upgraded.jobs, 2)
	s.await("Succeeded", "jobflow/long")
	s.requireOnce(3)
	s.requireOrder("long-n0", "long-n1")
	s.requireOrder("long-n1", "long-n2")
	jobs, err := jobUIDs(t.Context(), s.name)
	require.NoError(t, err)
	for name, uid := range upgraded.jobs {
		assert.Equal(t, uid, jobs[name], "Job %s is the one from before the upgrade", name)
	}
	assert.NoError(t, crdsAreThoseOf(filepath.Join(root, "charts", "armature")))
}

// crdsAreThoseOf compares the schemas of the cluster's CRDs with those of a chart.
func crdsAreThoseOf(chart string) error {
	files, err := filepath.Glob(filepath.Join(chart, "files", "crds", "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no CRDs", chart)
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		want, got := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, want); err != nil {
			return err
		}
		out, err := kubectl("get", "crd", want.Name, "--output=json")
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(out), got); err != nil {
			return err
		}
		a, _ := json.Marshal(want.Spec.Versions[0].Schema)
		b, _ := json.Marshal(got.Spec.Versions[0].Schema)
		if !bytes.Equal(a, b) {
			return fmt.Errorf("the CRD %s isn't that of %s", want.Name, chart)
		}
	}
	return nil
}
