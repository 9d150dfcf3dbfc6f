//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	kvv1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
)

const (
	patience  = 5 * time.Minute // of a slow machine; where all is well nothing lasts so long
	pollEvery = 200 * time.Millisecond

	root = "../.."
	home = "armature-system"
)

var (
	cluster client.WithWatch
	// applied are the examples that were.
	applied sync.Map
)

// TestMain installs the previous release's chart with the webhook on, and upgrades to this one; at the end it goes back, and
// uninstalls. No test but the one of the upgrade knows of it.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// What goes wrong is said on standard output, which is what the report is made of.
	if err := setUp(); err != nil {
		fmt.Println("install and upgrade Armature:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := allApplied(); err != nil && code == 0 {
		fmt.Println("the examples:", err)
		code = 1
	}
	if err := goBackAndUninstall(); err != nil {
		fmt.Println("go back and uninstall Armature:", err)
		code = 1
	}
	os.Exit(code)
}

func setUp() error {
	scheme := runtime.NewScheme()
	kinds := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, v1alpha1.AddToScheme, kvv1.AddToScheme)
	if err := kinds.AddToScheme(scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	if cluster, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	return upgradeInTheMiddleOfAFlow()
}

func helm(args ...string) error {
	data, err := os.MkdirTemp("", "helm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	cmd := exec.Command(os.Getenv("E2E_HELM"), append(args, "--namespace", home)...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+data, "HELM_CONFIG_HOME="+data, "HELM_DATA_HOME="+data)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// space is a namespace of a test's own. At the end nothing foreign must have been touched in it.
type space struct {
	*testing.T
	name string
	// audits are what was read of the audit log, by namespace.
	audits []*auditLog
}

func newSpace(t *testing.T) *space {
	t.Helper()
	namespace, err := newNamespace(t.Context())
	require.NoError(t, err)
	return useSpace(t, namespace)
}

// useSpace is a namespace that there is already, which goes when the test ends.
func useSpace(t *testing.T, namespace string) *space {
	t.Helper()
	s := &space{T: t, name: namespace}
	t.Cleanup(func() {
		s.assertNothingForeignTouched()
		if t.Failed() {
			s.keepEvidence()
		}
		_ = cluster.Delete(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	})
	return s
}

// newNamespace makes a namespace, and waits for what pods need in it, which a controller makes.
func newNamespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	if err := cluster.Create(ctx, namespace); err != nil {
		return "", err
	}
	return namespace.Name, poll(ctx, "the service account", func() error {
		return cluster.Get(ctx, client.ObjectKey{Namespace: namespace.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
}

// kubectl runs a command, and returns what it prints; what it says on standard error is part of the error, if there is one.
func kubectl(args ...string) (string, error) {
	cmd := exec.Command(os.Getenv("E2E_DEVCLUSTER"), append([]string{"kubectl", "--dir", os.Getenv("E2E_CLUSTER"), "--"}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out), err
}

// apply applies an example of the repository in the namespace.
func (s *space) apply(example string) {
	s.Helper()
	applied.Store(example, true)
	_, err := kubectl("apply", "--namespace", s.name, "--filename", filepath.Join(root, "examples", example))
	require.NoError(s, err)
}

// await waits for a condition of an object, such as "jobflow/x", or of those in "--filename=x", by kubectl, as users do. It fails at
// once if the object has failed, for it then never gets another.
func (s *space) await(condition, object string) {
	s.Helper()
	require.NoError(s, s.reach(condition, object))
}

// reach is await for those that expect an error.
func (s *space) reach(condition, object string) error {
	// kubectl gives up when the API server is away, or a CRD has no conditions at all yet, and so waits in pieces.
	return poll(s.Context(), object+" "+condition, func() error {
		_, err := kubectl("wait", "--namespace", s.name, "--for=condition="+condition, object, "--timeout=10s")
		if err == nil || condition == v1alpha1.ConditionFailed {
			return err
		}
		text, getErr := kubectl("get", "--namespace", s.name, object, `--output=jsonpath={.status.conditions[?(@.type=="Failed")]}`)
		var failed metav1.Condition
		if getErr != nil || json.Unmarshal([]byte(text), &failed) != nil || failed.Status != metav1.ConditionTrue {
			return err
		}
		return final{fmt.Errorf("%s is to be %s and has failed: %s: %s", object, condition, failed.Reason, failed.Message)}
	})
}

// logs are those of an object such as "job/x".
func (s *space) logs(object string) string {
	s.Helper()
	var out string
	s.eventually("the logs of "+object, func() (err error) {
		out, err = kubectl("logs", "--namespace", s.name, object)
		return err
	})
	return out
}

// pods are the namespace's pods.
func (s *space) pods() []corev1.Pod {
	s.Helper()
	pods := &corev1.PodList{}
	require.NoError(s, cluster.List(s.Context(), pods, client.InNamespace(s.name)))
	return pods.Items
}

func (s *space) eventually(what string, check func() error) {
	s.Helper()
	require.NoError(s, poll(s.Context(), what, check))
}

// final is an error that waiting doesn't change.
type final struct{ error }

// poll waits until a check finds nothing wrong any more, or something that stays so.
func poll(ctx context.Context, what string, check func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil || errors.As(err, &final{}) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s, after %s: %w", what, patience, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}
