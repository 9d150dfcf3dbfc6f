package tenants

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
	"github.com/armature-dev/armature/internal/testsize"
)

// TestRun runs each attack in a small size.
func TestRun(t *testing.T) {
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = "../../../bin/devcluster"
	}
	require.FileExists(t, binary, "make bin/devcluster")
	manager := os.Getenv("ARMATURE_BIN") // built by make
	if manager == "" {
		manager = filepath.Join(t.TempDir(), "armature")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", manager, "./cmd/armature")
		build.Dir = "../../.."
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}

	ctrl.SetLogger(logr.Discard())
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	require.NoError(t, os.WriteFile(file, []byte(lab.Begin(page)+"\nold\n"+lab.End(page)), 0o600))
	require.NoError(t, Main(t.Context(), []string{
		"-devcluster", binary, "-manager", manager, "-crds", "../../../config/crd", "-docs", docs,
		"-fluxjobs", "20", "-flows", "20", "-others", "10", "-sharing", "5", "-bombs", "1", "-nodes", "50", "-last", "300ms", "-probes", "3",
		"-share=" + strconv.FormatBool(!testsize.Long()), // to start a cluster takes longer than an attack of this size
	}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "old")
	for _, a := range attacks(sizes{fluxJobs: 20, flows: 20, others: 10, sharing: 5, bombs: 1, nodes: 50}) {
		assert.Contains(t, string(text), "| "+a.name+" | "+a.probe.name+" | now |")
	}
}

// TestAProbeThatIsNotServedAloneIsAnError: whatever the attack does then, it would seem to do no harm.
func TestAProbeThatIsNotServedAloneIsAnError(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	configMaps, err := c.Watch(t.Context(), &corev1.ConfigMapList{})
	require.NoError(t, err)
	p := &prober{kind: replicaJob, client: c, namespace: "victim", stream: watch.NewFake(), configMaps: configMaps}
	defer p.stop()
	noManager := make(chan struct{})
	close(noManager)
	_, err = p.alone(t.Context(), noManager, 1)
	assert.ErrorContains(t, err, "ReplicaJob probe-1 wasn't served")
}

func TestThePageSaysWhoWasDelayed(t *testing.T) {
	took := func(ms ...int) (all times) {
		for _, n := range ms {
			all.served, all.minimal = append(all.served, time.Duration(n)*time.Millisecond), append(all.minimal, time.Millisecond)
		}
		return all
	}
	r := results{compares: true, rows: []row{
		{"a", "JobFlow", []measured{{alone: took(10), attacked: took(4000), died: true}, {alone: took(10, 20, 30), attacked: took(20, 40, 50), memory: 64 << 20}}},
		{"b", "FluxJob", []measured{{alone: took(10), attacked: times{served: []time.Duration{probeTimeout}, minimal: []time.Duration{time.Second}}}, {alone: took(10), attacked: took(21)}}},
		{"c", "FluxJob", []measured{{}, {alone: took(10), attacked: took(10), died: true}}},
		{"d", "JobFlow", []measured{{}, {alone: took(10), attacked: times{
			served: []time.Duration{60 * time.Millisecond}, minimal: []time.Duration{4 * time.Millisecond},
		}}}},
	}}
	page := r.page()
	for _, line := range []string{
		"| a | JobFlow | before | 10 ms / 10 ms | 4.0 s / 4.0 s | 1 ms / 1 ms | 1 ms / 1 ms | ended |",
		"| a | JobFlow | now | 20 ms / 30 ms | 40 ms / 50 ms | 1 ms / 1 ms | 1 ms / 1 ms | 64 MiB |",
		"| b | FluxJob | before | 10 ms / 10 ms | never / never | 1 ms / 1 ms | 1.0 s / 1.0 s | 0 MiB |",
		"- met: a: 2.0 times; in all 2.0 times, the minimal operator 1.0 times", "- **missed**: b: 2.1 times; ", "- **missed**: c: 1.0 times; ",
		"- met: d: 1.5 times; in all 6.0 times, the minimal operator 4.0 times",
	} {
		assert.Contains(t, page, line)
	}
}
