package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	pollEvery = 250 * time.Millisecond
)

// place is the cluster, and a namespace in which a manager runs.
type place struct {
	t      *testing.T
	client client.Client
	// namespace is where a manager runs; full is another that has no room for pods; unwatched is one without a manager;
	// locked is one whose manager may create nothing.
	namespace, full, unwatched, locked string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	testcluster.InstallCRDs(t, "config/crd")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c, err := client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	p := &place{
		t: t, client: c, namespace: testcluster.Namespace(t), full: testcluster.Namespace(t),
		unwatched: testcluster.Namespace(t), locked: testcluster.Namespace(t),
	}
	binary.Start(t, "manager", "--kubeconfig", testcluster.Kubeconfig(t), "--watch-namespaces", p.namespace+","+p.full,
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")
	return p
}

// create creates objects in the place's namespace, or in the one that they name.
func (p *place) create(objs ...client.Object) {
	p.t.Helper()
	for _, obj := range objs {
		if obj.GetNamespace() == "" {
			obj.SetNamespace(p.namespace)
		}
		require.NoError(p.t, p.client.Create(context.Background(), obj), "%T %s", obj, obj.GetName())
	}
}

// clean deletes objects that are in no namespace when the test ends.
func (p *place) clean(objs ...client.Object) {
	p.t.Cleanup(func() {
		for _, obj := range objs {
			if err := client.IgnoreNotFound(p.client.Delete(context.Background(), obj)); err != nil {
				p.t.Logf("delete %s: %v", obj.GetName(), err)
			}
		}
	})
}

// armature runs a command, and returns what it printed and its exit code.
func armature(t *testing.T, namespace string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary.Path(t), append(args, "--kubeconfig", testcluster.Kubeconfig(t), "-n", namespace)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // its exit code tells
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// finding is what explain prints as JSON.
type finding struct {
	Verdict, Reason, Message, Next string
	Object                         struct{ Kind, Name string }
	Path                           []struct{ Kind, Name string }
}

func (f finding) kinds() string {
	var kinds []string
	for _, step := range f.Path {
		kinds = append(kinds, step.Kind)
	}
	return strings.Join(kinds, " ")
}

// explain asks until the answer is as wanted, and returns the last one.
func explain(t *testing.T, namespace, what string, done func(finding) bool) (found finding, code int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		out, errs, c := armature(t, namespace, "explain", what, "-o", "json")
		require.Less(t, c, 2, "explain %s: %s", what, errs)
		found, code = finding{}, c
		require.NoError(t, json.Unmarshal([]byte(out), &found), out)
		if done(found) || time.Now().After(deadline) {
			return found, code
		}
		time.Sleep(pollEvery)
	}
}

// eventually waits for something in the cluster.
func (p *place) eventually(what string, done func() error) {
	p.t.Helper()
	var err error
	require.Eventually(p.t, func() bool { err = done(); return err == nil }, patience, 50*time.Millisecond, "%s: %v", what, &lazyError{&err})
}

// lazyError is the last error of something that is tried again and again.
type lazyError struct{ err *error }

func (l *lazyError) String() string { return fmt.Sprint(*l.err) }
