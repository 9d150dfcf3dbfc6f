package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	strictjson "sigs.k8s.io/json"
)

const (
	// APIVersion is the version of the format. A program reads only this one.
	APIVersion = "record.armature.dev/v1"
	// Kind is the kind of a file.
	Kind = "PassList"
)

// List is a file: passes, oldest first.
type List struct {
	// APIVersion is [APIVersion].
	APIVersion string `json:"apiVersion"`
	// Kind is [Kind].
	Kind string `json:"kind"`
	// Items are the passes.
	Items []Pass `json:"items"`
}

// Pass is one pass of an operator over one owner.
type Pass struct {
	// Program is the program that made the pass.
	Program Program `json:"program"`
	// Operator is the operator's name.
	Operator string `json:"operator"`
	// Owner is the owner as the plan got it.
	Owner Object `json:"owner"`
	// View is the observed state that the plan got.
	View View `json:"view"`
	// Plan is what the plan returned. It is missing if the pass has no plan, because something couldn't be read, or the plan is invalid.
	Plan *Plan `json:"plan,omitempty"`
	// PlanError is the error of an invalid plan.
	PlanError string `json:"planError,omitempty"`
	// Result is what the pass did.
	Result Result `json:"result"`
	// Error is the error of the whole pass, that of the plan included.
	Error string `json:"error,omitempty"`
	// Requests are the requests to the API server, in the order of their answers. Reads from the cache and events aren't among them.
	Requests []Request `json:"requests,omitempty"`
}

// Program is a build of a program, as the Go toolchain has recorded it.
type Program struct {
	// Path is the import path of the main package.
	Path string `json:"path,omitempty"`
	// Version is the version of the main module.
	Version string `json:"version,omitempty"`
	// Revision is the commit of the version control system, and Modified whether there were changes beside it.
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	// GoVersion is the version of Go.
	GoVersion string `json:"goVersion,omitempty"`
	// Digest is the SHA-256 of the executable, "sha256:" and hexadecimal digits.
	Digest string `json:"digest,omitempty"`
	// Settings are the settings that the program's plans depend on; see [Recorder].
	Settings map[string]string `json:"settings,omitempty"`
}

// Object is an object as decoded from JSON. It has no managed fields and no kubectl.kubernetes.io/last-applied-configuration. Secrets
// have digests in data and stringData (see the package), and ControllerRevisions one in data.
type Object map[string]any

// View is the observed state.
type View struct {
	// Time is View.Now.
	Time time.Time `json:"time"`
	// Owned are the owner's children and the objects that these control, Watched the objects of other watches. Both are ordered by kind,
	// namespace and name.
	Owned   []Object `json:"owned,omitempty"`
	Watched []Object `json:"watched,omitempty"`
	// External is the result of the operator's function External, if it was called.
	External *External `json:"external,omitempty"`
}

// External is the state of something outside the cluster.
type External struct {
	// GoType is the value's Go type.
	GoType string `json:"goType"`
	// Value is the value as JSON.
	Value any `json:"value"`
	// Incomplete is true if a value of the Go type, decoded from this JSON, isn't equal to the original.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Plan is a plan. Fields that aren't set are missing; builder.Plan documents them.
type Plan struct {
	Children []Child `json:"children,omitempty"`
	// Prune has kinds: "ConfigMap", "Deployment.apps".
	Prune    []string `json:"prune,omitempty"`
	PruneAll bool     `json:"pruneAll,omitempty"`
	Edits    []Edit   `json:"edits,omitempty"`
	// Delete has objects: "Job.batch default/a".
	Delete  []string `json:"delete,omitempty"`
	Rollout *Rollout `json:"rollout,omitempty"`
	// Status is the status of the owner, without the rest of it.
	Status        any           `json:"status,omitempty"`
	StatusCanWait time.Duration `json:"statusCanWait,omitempty"`
	Report        bool          `json:"report,omitempty"`
	WaitingFor    []string      `json:"waitingFor,omitempty"`
	// Finish is true if the plan has a function Finish.
	Finish      bool    `json:"finish,omitempty"`
	Events      []Event `json:"events,omitempty"`
	DeleteOwner bool    `json:"deleteOwner,omitempty"`
	// RequeueAfter is a number of nanoseconds, as StatusCanWait.
	RequeueAfter time.Duration `json:"requeueAfter,omitempty"`
}

// Child is a desired object with its options; the functions of package builder document them.
type Child struct {
	Object         Object `json:"object"`
	Phase          string `json:"phase,omitempty"`
	RunOnce        string `json:"runOnce,omitempty"`
	CreateOnly     bool   `json:"createOnly,omitempty"`
	CrossNamespace bool   `json:"crossNamespace,omitempty"`
	Retain         bool   `json:"retain,omitempty"`
	// Ignored are the paths of Ignore.
	Ignored []string `json:"ignored,omitempty"`
	// HashFrom has the SHA-256 of each argument's JSON, in which Secrets have digests.
	HashFrom      []string `json:"hashFrom,omitempty"`
	Adopt         *Adopt   `json:"adopt,omitempty"`
	KeepImmutable bool     `json:"keepImmutable,omitempty"`
	// RecreateImmutable is the propagation policy, "Background" for the empty one.
	RecreateImmutable string `json:"recreateImmutable,omitempty"`
	// ReadyWhen is true if the child has a rule of its own.
	ReadyWhen bool `json:"readyWhen,omitempty"`
}

// Adopt is builder.AdoptOptions.
type Adopt struct {
	Labels         map[string]string `json:"labels,omitempty"`
	FormerManagers []string          `json:"formerManagers,omitempty"`
	OwnedOnly      bool              `json:"ownedOnly,omitempty"`
}

// Edit is a change of an existing object.
type Edit struct {
	// Object is the object: "Job.batch default/a".
	Object string `json:"object"`
	// Fields are the fields that change, by path. Replicas is set instead for a change through the subresource scale.
	Fields   map[string]any `json:"fields,omitempty"`
	Replicas *int32         `json:"replicas,omitempty"`
	Foreign  bool           `json:"foreign,omitempty"`
}

// Rollout is rollout.Options. The times are numbers of nanoseconds.
type Rollout struct {
	Phases            []string      `json:"phases,omitempty"`
	InstallInOrder    bool          `json:"installInOrder,omitempty"`
	AlertAfter        time.Duration `json:"alertAfter,omitempty"`
	RollbackAfter     time.Duration `json:"rollbackAfter,omitempty"`
	CompletedRevision *string       `json:"completedRevision,omitempty"`
}

// Event is an event of the plan.
type Event struct {
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason"`
	Action  string `json:"action,omitempty"`
	Note    string `json:"note,omitempty"`
	Related string `json:"related,omitempty"`
}

// Result is what a pass did; see builder.Result.
type Result struct {
	Changes   []Change  `json:"changes,omitempty"`
	Unchanged int       `json:"unchanged,omitempty"`
	Pending   []Pending `json:"pending,omitempty"`
	// Rollout is the state of the phases, if there are any.
	Rollout any `json:"rollout,omitempty"`
	// RequeueAfter is a number of nanoseconds.
	RequeueAfter time.Duration `json:"requeueAfter,omitempty"`
}

// Change is what a pass did to one object.
type Change struct {
	Object string `json:"object"`
	Reason string `json:"reason"`
}

// Pending is a child that isn't up to date and ready.
type Pending struct {
	Object  string `json:"object"`
	Phase   string `json:"phase,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Request is one request to the API server.
type Request struct {
	// Verb is create, apply, patch, update, delete, get or list.
	Verb string `json:"verb"`
	// Object is the object, or the kind of a list.
	Object string `json:"object"`
	// Subresource is status or scale, if it is one.
	Subresource string `json:"subresource,omitempty"`
	// DryRun is true for a request that the API server only tries.
	DryRun bool `json:"dryRun,omitempty"`
	// Error is the error of the answer.
	Error string `json:"error,omitempty"`
}

// Read reads a file. It accepts only [APIVersion], and refuses unknown fields, fields that occur twice, and text after the end.
func Read(r io.Reader) (*List, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var version struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := strictjson.UnmarshalCaseSensitivePreserveInts(text, &version); err != nil {
		return nil, fmt.Errorf("not a record of passes: %w", err)
	}
	if version.APIVersion != APIVersion || version.Kind != Kind {
		return nil, fmt.Errorf("apiVersion is %q and kind %q; this program reads %q and %q",
			version.APIVersion, version.Kind, APIVersion, Kind)
	}
	var list List
	if err := decode(text, &list); err != nil {
		return nil, fmt.Errorf("record of passes: %w", err)
	}
	return &list, nil
}

// decode decodes JSON strictly, and whole numbers as int64.
func decode(text []byte, into any) error {
	strict, err := strictjson.UnmarshalStrict(text, into)
	return errors.Join(append(strict, err)...)
}

// Write writes a file that [Read] reads. Equal lists have equal bytes.
func (l *List) Write(w io.Writer) error {
	indented := encoder(w)
	indented.SetIndent("", "  ")
	return indented.Encode(List{APIVersion: APIVersion, Kind: Kind, Items: l.Items})
}

// encoder returns an encoder that leaves <, > and & as they are.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
