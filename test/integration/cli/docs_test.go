package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

const prompt = "    $ armature "

// TestDocs: what docs/cli.md says that commands print is what they print. UPDATE_DOCS=1 writes it anew.
func TestDocs(t *testing.T) {
	p := newPlaceIn(t, "demo") // a name that doesn't change, so that columns are as wide each time
	p.prepareDocs()
	page := filepath.Join(binary.Root(t), "docs", "cli.md")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var want strings.Builder
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		want.WriteString(lines[i])
		if i < len(lines)-1 {
			want.WriteString("\n")
		}
		if command, ok := strings.CutPrefix(lines[i], prompt); ok {
			want.WriteString(p.outputInDocs(command))
			i = endOfOutput(lines, i) - 1
		}
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(page, []byte(want.String()), 0o600))
	}
	inDocs, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, want.String(), string(inDocs), "UPDATE_DOCS=1 go test ./test/integration/cli -run TestDocs")
}

// endOfOutput returns the line after what a command prints: the next command, or the empty line before what isn't indented.
func endOfOutput(lines []string, command int) int {
	i := command + 1
	for i < len(lines) && !strings.HasPrefix(lines[i], prompt) && (lines[i] == "" || strings.HasPrefix(lines[i], "    ")) {
		i++
	}
	for i > command+1 && lines[i-1] == "" {
		i--
	}
	return i
}

var (
	randomEnd = regexp.MustCompile(`\b((?:nightly|train|scan)-[a-z]+)-[a-z0-9]{5}\b`)
	// A column of ages is as wide as its head or the longest of them.
	ageHead = regexp.MustCompile(`AGE {2,}REASON`)
	age     = regexp.MustCompile(`( {2,})(?:\d+m)?\d+s {2,}(\S)`)
	ageLast = regexp.MustCompile(`(?m) (?:\d+m)?\d+s$`)
	elapsed = regexp.MustCompile(`(?m)^ +(?:\d+m)?\d+s  `)
	took    = regexp.MustCompile(`\bin (?:\d+m)?\d+s\b`)
)

// outputInDocs runs a command, and returns what it prints as the page has it.
func (p *place) outputInDocs(command string) string {
	p.T.Helper()
	out, errs, _ := p.armature(strings.Fields(command)...)
	for strings.Contains(errs, "the object has been modified") { // by its operator, at that moment: a person would say it again
		out, errs, _ = p.armature(strings.Fields(command)...)
	}
	if strings.HasPrefix(command, "watch ") { // it does without the logs of a slow machine: see watches
		p.Eventually(command+" shows logs", func() bool {
			if !strings.Contains(out, "last said:") {
				out, errs, _ = p.armature(strings.Fields(command)...)
			}
			return strings.Contains(out, "last said:")
		}, func() any { return out })
	}
	require.Empty(p.T, errs, command)
	out = randomEnd.ReplaceAllString(out, "$1-x7k2p")
	out = elapsed.ReplaceAllString(out, "   9s  ")
	out = took.ReplaceAllString(out, "in 1s")
	out = ageHead.ReplaceAllString(age.ReplaceAllString(out, "${1}9s   $2"), "AGE  REASON")
	out = ageLast.ReplaceAllString(out, " 9s")
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(out, "\n") + "\n") {
		if line = strings.TrimRight(line, " \n"); line != "" {
			line = "    " + line
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// prepareDocs makes what the page is about.
func (p *place) prepareDocs() {
	p.T.Helper()
	nightly := flowOf("nightly", node("fetch", "echo fetched 3 files"), node("build", "echo compiling; echo 'main.c:7: no such file: config.h'; exit 2", "fetch"),
		node("test", "true", "build"))
	nightly.Spec.Finally = []v1alpha1.Flow{node("report", "echo \"the flow: $FLOW_STATUS\"")}
	p.create(nightly)
	p.waitState("nightly", v1alpha1.StateFailed)
	p.create(daemonJob("scan", "echo checking $NODE; test $NODE != node-2"))
	p.waitDaemon("scan")
	train := flowOf("train", node("learn", "true"))
	train.Spec.Flows[0].JobTemplate.Template.Spec.NodeSelector = map[string]string{"gpu": "true"}
	p.create(train)
	p.createQueue("default")
	p.create(fluxJob("one", "", 1))
	p.waitReason("one", v1alpha1.FluxJobStarting, "")
	p.create(fluxJob("two", "", 2))
	p.create(fluxJob("large", "", 9))
	p.waitReason("two", v1alpha1.FluxJobWaiting, v1alpha1.ReasonWaitingForQuota)
	p.waitReason("large", v1alpha1.FluxJobWaiting, v1alpha1.ReasonExceedsMaximumQuota)
	p.Eventually("the Jobs' own conditions and the scheduler's word", func() bool {
		for _, name := range []string{"nightly-fetch", "nightly-report"} {
			job := &batchv1.Job{}
			err := p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name}, job)
			if err != nil || job.Status.CompletionTime == nil {
				return false
			}
		}
		out, _, _ := p.armature("explain", "jf/train", "-o", "name")
		return strings.HasPrefix(out, "pod/")
	})
}

// newPlaceIn is a place in a namespace of a name.
func newPlaceIn(t *testing.T, name string) *place {
	t.Helper()
	p := connect(t)
	p.Namespace = name
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.NoError(t, p.Client.Create(t.Context(), namespace))
	t.Cleanup(func() { _ = p.Client.Delete(context.Background(), namespace) })
	p.Eventually("the namespace has its service account", func() bool {
		return p.Client.Get(t.Context(), client.ObjectKey{Namespace: name, Name: "default"}, &corev1.ServiceAccount{}) == nil
	})
	binary.StartManager(t, name)
	return p
}
