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
	// Client has the kinds of Scheme. Its default field manager is [Manager].
	Client client.WithWatch
	// Namespaces are two empty namespaces.
	Namespaces [2]string
	// Await waits for a condition that the cluster reaches by itself, such as garbage collection, and reports whether it was reached.
	Await func(done func() bool) bool
	// Busy means that controllers may write between two calls. A case then retries a check that needs an object without other writers.
	Busy bool
	// Script makes the containers of a simulated cluster's pods end whose names match a pattern: with an exit code, after a second; a
	// negative code: they run until they are stopped. A real cluster runs their commands. Default: nil. Only [ControllerCases] use it.
	Script func(pods string, code int)
}

// Manager is the field manager of a Target's calls.
const Manager = "conformance"

// Case is one behaviour that the fake server imitates.
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
		{"invalid-templates", invalidTemplates},
		{"invalid-pods", invalidPods},
		{"invalid-jobs", invalidJobs},
		{"immutable", immutable},
		{"delete", deletion},
		{"namespaces", namespaceDeletion},
		{"finalizers", finalizers},
		{"garbage", garbage},
		{"absent-owners", absentOwners},
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

// CRDs is the directory of the CustomResourceDefinitions that the cases use, from the repository's root.
const CRDs = "config/crd"

// Scheme returns a scheme with the kinds that the cases use.
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

// File returns the path of the case's transcript, from this package's directory.
func (c Case) File() string { return fmt.Sprintf("testdata/%s.yaml", c.Name) }

// Recorded returns the transcript of the case on a real API server.
func (c Case) Recorded() (string, error) {
	data, err := recorded.ReadFile(c.File())
	return string(data), err
}
