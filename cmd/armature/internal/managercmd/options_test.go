package managercmd

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

func TestFlagsThatCannotWorkAreRefused(t *testing.T) {
	for _, c := range []struct {
		o    options
		says string
	}{
		{options{concurrency: 0, qps: -1}, "--max-concurrent-reconciles must be at least 1, got 0"},
		{options{concurrency: 1, qps: 0}, "--kube-api-qps must be a positive number or -1, got 0"},
		{options{concurrency: 1, qps: -2}, "--kube-api-qps must be a positive number or -1, got -2"},
		{options{concurrency: 1, qps: 5, burst: -1}, "--kube-api-burst must not be negative, got -1"},
		{options{concurrency: 1, qps: -1, burst: 5}, "--kube-api-burst is 5, which means nothing without --kube-api-qps"},
		{options{concurrency: 1, qps: -1, recordBytes: -1}, "--record-bytes must not be negative, got -1"},
		{options{concurrency: 1, qps: -1, webhook: true}, "--webhook needs --webhook-cert-dir"},
		{options{concurrency: 1, qps: -1, webhook: true, webhookCertDir: "x", webhookCertificates: "mine"}, `--webhook-certificates must be given or self-managed, got "mine"`},
		{options{concurrency: 1, qps: -1, selector: "a in b"}, `--selector: `},
		{options{concurrency: 1, qps: -1, selector: "team=a", operators: []string{"*"}}, `--selector: it is about the label team; with the operator fluxjob it can only be about api.practice.com/shard`},
		{options{concurrency: 1, qps: -1, watchNamespaces: []string{"a", "B"}}, `--watch-namespaces: "B" can't be a namespace's name: `},
	} {
		require.ErrorContains(t, c.o.validate(), c.says)
	}
	require.NoError(t, options{concurrency: 1, qps: 50}.validate())
	require.NoError(t, options{concurrency: 1, qps: 50, selector: "!api.practice.com/shard", operators: []string{"*"}}.validate())
	require.NoError(t, options{concurrency: 1, qps: 50, selector: "team in (a, b)", operators: []string{"jobflow"}}.validate())
}

func TestLogHandler(t *testing.T) {
	var out bytes.Buffer
	h, err := logHandler(&out, "json", "warn")
	require.NoError(t, err)
	assert.False(t, h.Enabled(t.Context(), 0), "info is below warn")

	_, err = logHandler(&out, "xml", "info")
	require.ErrorContains(t, err, `--log-format must be text or json, got "xml"`)
	_, err = logHandler(&out, "text", "loud")
	require.ErrorContains(t, err, `--log-level must be debug, info, warn or error, got "loud"`)
}

// Each line has one of four levels, and keys that stay: what an error carries beside its words is left out.
func TestLogLines(t *testing.T) {
	var out bytes.Buffer
	h, err := logHandler(&out, "json", "debug")
	require.NoError(t, err)
	logger := logr.FromSlogHandler(h).WithName("part")
	logger.Info("a")
	logger.V(1).Info("b")
	logger.V(9).Info("too much")
	logger.Error(fmt.Errorf("c: %w", errors.New("d")), "e", "name", "x")
	assert.Error(t, logged(errors.New("f"), "json", logger))
	lines := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(out.String(), "")
	assert.Equal(t, []string{
		`{"level":"INFO","msg":"a","logger":"part"}`,
		`{"level":"DEBUG","msg":"b","logger":"part"}`,
		`{"level":"ERROR","msg":"e","logger":"part","err":"c: d","name":"x"}`,
		`{"level":"ERROR","msg":"ended","logger":"part","err":"f"}`,
	}, strings.Split(strings.TrimSpace(lines), "\n"))
	require.EqualError(t, logged(errors.New("g"), "text", logger), "g")
	require.NoError(t, logged(nil, "json", logger))
}

// Outside a cluster the lease is where the kubeconfig's context points, unless a flag says otherwise.
func TestLeaseNamespace(t *testing.T) {
	kube := genericclioptions.NewConfigFlags(true)
	*kube.KubeConfig = "testdata/kubeconfig"
	namespace, err := leaseNamespace(options{kube: kube})
	require.NoError(t, err)
	assert.Equal(t, "team-a", namespace)

	namespace, err = leaseNamespace(options{kube: kube, leaderElectNamespace: "ops"})
	require.NoError(t, err)
	assert.Equal(t, "ops", namespace)
}
