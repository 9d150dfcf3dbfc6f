// Package conformance says in cases what the fake API server of buildertest imitates. A case is a list of calls; its
// transcript is what came back. The transcripts in testdata were recorded from a real API server: the tests of this
// package replay them against the fake, those in test/integration/buildertest against a real one. So the fake can't
// drift.
//
// To record anew: go test ./test/integration/buildertest -update
package conformance

import (
	"embed"
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Target is an API server to run a case against.
type Target struct {
	// Client has the kinds of Scheme. Its field owner is [Manager] unless a call says otherwise.
	Client client.WithWatch
	// Namespaces are two empty ones.
	Namespaces [2]string
	// Await waits until something is true that happens by itself, such as garbage collection, and reports whether it
	// came true.
	Await func(done func() bool) bool
	// Busy says that controllers may write between two calls. What must be seen of an object that nobody else writes
	// to is then tried several times.
	Busy bool
}

// Manager is the field owner of a Target's calls.
const Manager = "conformance"

// Case is one thing that is imitated.
type Case struct {
	Name string
	run  func(*session)
}

// Cases returns all cases.
func Cases() []Case {
	return []Case{
		{"defaults-workloads", defaultsOfWorkloads},
		{"defaults-core", defaultsOfCore},
		{"defaults-services", defaultsOfServices},
		{"create", create},
		{"update", update},
		{"patch", patch},
		{"apply", apply},
		{"apply-typed", applyTyped},
		{"apply-conflicts", applyConflicts},
		{"apply-preconditions", applyPreconditions},
		{"scale", scale},
		{"generation", generation},
		{"no-ops", noOps},
		{"status", status},
		{"custom", custom},
		{"invalid", invalid},
		{"immutable", immutable},
		{"delete", deletion},
		{"finalizers", finalizers},
		{"garbage", garbage},
		{"dry-run", dryRun},
		{"list", list},
		{"watch", watching},
	}
}

// Run runs the case and returns its transcript, as YAML.
func (c Case) Run(t *testing.T, target Target) string {
	t.Helper()
	s := newSession(t, target)
	c.run(s)
	transcript, err := json.Marshal(s.transcript)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.JSONToYAML([]byte(s.normalize(string(transcript))))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// CRDs is where the CustomResourceDefinitions are that the cases use, from the repository's root.
const CRDs = "config/crd"

// Scheme returns a scheme of the kinds that the cases use.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

var scheme = Scheme()

//go:embed testdata
var recorded embed.FS

// File is the name of the file of the case's transcript, from this package's directory.
func (c Case) File() string { return fmt.Sprintf("testdata/%s.yaml", c.Name) }

// Recorded returns the transcript of the case on a real API server.
func (c Case) Recorded() (string, error) {
	data, err := recorded.ReadFile(c.File())
	return string(data), err
}
