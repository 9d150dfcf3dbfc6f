package scaffold

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The variants of a kind.
const (
	Plain = "plain" // pods with a configuration
	From  = "from"  // the fields of a CustomResourceDefinition
	DSOI  = "dsoi"  // a distributed application, by DSOI's engine
)

// The versions that a project begins with.
const (
	Go              = "1.26.0"
	ControllerTools = "v0.23.0"
)

// Project is a Go module with operators.
type Project struct {
	Name        string // of the program, the chart and the image
	Module      string // the path of the Go module
	Armature    string // the version of Armature
	ArmatureDir string // a source tree of Armature to build from; empty: that version
}

// Kind is a kind with its operator.
type Kind struct {
	Group, APIVersion, Kind, Plural string
	Variant                         string

	Conditions bool    // its status has conditions
	Schema     *Schema // of the variant From
	CRD        []byte  // of the variant From
	Sample     string  // YAML
}

var (
	kindName   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	apiVersion = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	modulePath = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*\.[a-z]+(/[A-Za-z0-9][A-Za-z0-9._~-]*)+$`)
)

// Check returns what is wrong with the names of a project.
func (p Project) Check() error {
	var errs []error
	if problems := validation.IsDNS1123Label(p.Name); problems != nil || len(p.Name) > 40 || p.Name[0] >= '0' && p.Name[0] <= '9' {
		errs = append(errs, fmt.Errorf("the name is %q; a name has at most 40 lower-case letters, digits and \"-\", and begins with a letter",
			p.Name))
	}
	if !modulePath.MatchString(p.Module) {
		errs = append(errs, fmt.Errorf("--module: %q is no path of a Go module, such as example.com/backup", p.Module))
	}
	return errors.Join(errs...)
}

// Check returns what is wrong with the names of a kind.
func (k Kind) Check() error {
	var errs []error
	switch {
	case !kindName.MatchString(k.Kind) || len(k.Kind) > 50:
		errs = append(errs, fmt.Errorf(
			"--kind: %q; a kind has at most 50 letters and digits and begins with an upper-case letter, such as Backup", k.Kind))
	case strings.HasSuffix(k.Kind, "List"):
		errs = append(errs, fmt.Errorf("--kind: %q ends like the name of a list of objects; choose another one", k.Kind))
	case k.Lower() == "operator" || k.Lower() == "scheme": // operator/operator_test.go, scheme.go
		errs = append(errs, fmt.Errorf("--kind: %q is a name that a file of the project has already; choose another one", k.Kind))
	}
	switch problems := validation.IsDNS1123Subdomain(k.Group); {
	case problems != nil || !strings.Contains(k.Group, "."):
		errs = append(errs, fmt.Errorf("--group: %q; a group is a domain that is yours, in lower-case letters, such as example.com", k.Group))
	case strings.HasSuffix("."+k.Group, ".k8s.io") || strings.HasSuffix("."+k.Group, ".kubernetes.io"):
		errs = append(errs, fmt.Errorf("--group: %q: groups under k8s.io and kubernetes.io are those of Kubernetes; use a domain that is yours",
			k.Group))
	}
	if !apiVersion.MatchString(k.APIVersion) {
		errs = append(errs, fmt.Errorf("--version: %q; a version is like v1, v1beta1 or v1alpha1", k.APIVersion))
	}
	return errors.Join(errs...)
}

// Lower is the kind in lower case, as files and the operator are called.
func (k Kind) Lower() string { return strings.ToLower(k.Kind) }

// Var is the beginning of the names of unexported functions.
func (k Kind) Var() string { return strings.ToLower(k.Kind[:1]) + k.Kind[1:] }

// InStory is the kind in the lines of a story: with its group if a built-in kind has the same name.
func (k Kind) InStory() string {
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		if gvk.Kind == k.Kind {
			return k.Kind + "." + k.Group
		}
	}
	return k.Kind
}

// SampleName is the name of the object in the sample.
func (k Kind) SampleName() string { return "demo" }

// Devcluster is where the Makefile of a project has the program devcluster from: a source tree, which builds it, or else the PATH or the
// version.
func Devcluster(version, tree string) string {
	if tree != "" {
		return "$(shell $(MAKE) --silent -C " + tree + " bin/devcluster >&2)" + tree + "/bin/devcluster"
	}
	return "$(or $(shell command -v devcluster),$(shell go run github.com/armature-dev/armature/devcluster/install@" + version + "))"
}

// VetPlans is the command of the Makefile that checks plans. It fails without the tool: an empty -vettool is go vet itself.
const VetPlans = `purity="$$(go tool -n purity)" && go vet -vettool="$$purity" ./...`

// Devcluster is the value in the Makefile.
func (p Project) Devcluster() string { return Devcluster(p.Armature, p.ArmatureDir) }
