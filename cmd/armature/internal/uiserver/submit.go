package uiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/lint"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
	"github.com/armature-dev/armature/internal/wellknown"
)

// submission is an object to create, as text or as the form has made it.
type submission struct {
	YAML   string         `json:"yaml"`
	Object map[string]any `json:"object"`
}

// submitted is an object as it would be stored, or is.
type submitted struct {
	Object   map[string]any `json:"object"`
	Warnings []string       `json:"warnings,omitempty"`
}

// submit creates an object, or with dryRun=true has everything checked that its creation would: by the operator's own rules, as
// "armature lint" does, by the API server with its schema, rules and quotas, and by admission webhooks.
func (s *server) submit(w http.ResponseWriter, r *http.Request, v *Viewer) {
	code, answer, err := s.create(w, r, v)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, code, answer)
}

// create creates the object of a submission, or has its creation checked, in one of the turns of the viewer.
func (s *server) create(w http.ResponseWriter, r *http.Request, v *Viewer) (code int, answer any, err error) {
	end, err := v.beginSubmission()
	if err != nil {
		return 0, nil, err
	}
	defer end() // before the answer is written: a client that doesn't read it holds no turn
	doc, err := readDocument(w, r)
	if err != nil {
		return 0, nil, err
	}
	obj := doc.Object
	k, err := s.find(v.cluster.Client.RESTMapper(), obj.GroupVersionKind().GroupKind().String())
	if err == nil && k.GroupVersionKind != obj.GroupVersionKind() {
		err = badRequest(fmt.Sprintf("apiVersion of a %s must be %s, got %q", k.Kind, k.GroupVersion(), obj.GetAPIVersion()))
	}
	if err != nil {
		return 0, nil, err
	}
	fields, err := problems(doc)
	if err != nil {
		return 0, nil, err
	}
	if len(fields) > 0 {
		return http.StatusUnprocessableEntity, failure{
			Error: fmt.Sprintf("%d fields of the %s are invalid", len(fields), k.Kind), Reason: "Invalid", Fields: fields,
		}, nil
	}
	if k.namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace(v.cluster.Namespace)
	}
	var warned gathering
	options := &client.CreateOptions{
		FieldManager: wellknown.FieldOwner, Raw: &metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict},
	}
	code = http.StatusCreated
	if r.URL.Query().Get("dryRun") == "true" {
		options.DryRun, code = []string{metav1.DryRunAll}, http.StatusOK
	}
	if err := v.cluster.Client.Create(connect.WithWarnings(r.Context(), warned.add), obj, options); err != nil {
		return 0, nil, err
	}
	obj.SetManagedFields(nil)
	return code, submitted{Object: obj.Object, Warnings: warned.all()}, nil
}

// An object takes many times its size in memory, most of it while it is read.
const (
	// maxSubmissions is how many objects all viewers submit at a time, and maxOfViewer how many one of them.
	maxSubmissions, maxOfViewer = 8, 4
	// maxReading is how many of these are read at a time.
	maxReading = 2
)

var (
	submissions = semaphore.NewWeighted(maxSubmissions)
	reading     = make(chan struct{}, maxReading)
)

// beginSubmission refuses a submission beside too many others.
func (v *Viewer) beginSubmission() (end func(), err error) {
	if !v.submissions.TryAcquire(1) {
		return nil, &refusal{http.StatusTooManyRequests, string(metav1.StatusReasonTooManyRequests),
			fmt.Sprintf("you submit %d objects at a time already: try again when one of them has been created", maxOfViewer)}
	}
	if !submissions.TryAcquire(1) {
		v.submissions.Release(1)
		return nil, &refusal{http.StatusTooManyRequests, string(metav1.StatusReasonTooManyRequests),
			fmt.Sprintf("%d objects are being submitted: try again in a moment", maxSubmissions)}
	}
	return func() { submissions.Release(1); v.submissions.Release(1) }, nil
}

// readDocument reads the one object of a submission, once there is a slot.
func readDocument(w http.ResponseWriter, r *http.Request) (*manifest.Document, error) {
	var text json.RawMessage // a client that sends slowly holds no slot of reading
	if err := decode(w, r, maxObjectBody, &text); err != nil {
		return nil, err
	}
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	var body submission
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, badRequest("the body isn't what ui/API.md says: " + err.Error())
	}
	return document(body)
}

// unreadable are the characters that JSON may have as they are, and YAML only escaped.
var unreadable = regexp.MustCompile(`[\x7f-\x9f\x{feff}\x{fffe}\x{ffff}]`)

// document reads the one object of a submission.
func document(body submission) (*manifest.Document, error) {
	text := body.YAML
	if body.Object != nil {
		data, err := json.Marshal(body.Object) // YAML too, and without the indent that grows with the depth
		if err != nil {
			return nil, badRequest(err.Error())
		}
		text = unreadable.ReplaceAllStringFunc(string(data), func(s string) string { return fmt.Sprintf(`\u%04x`, []rune(s)[0]) })
	}
	docs, err := manifest.Parse("yaml", []byte(text))
	if err != nil {
		return nil, &refusal{http.StatusUnprocessableEntity, "Invalid", err.Error()}
	}
	if len(docs) != 1 {
		return nil, badRequest(fmt.Sprintf("want one object, got %d", len(docs)))
	}
	return docs[0], nil
}

// problems are what the operator would find wrong, if the kind is one of Armature's.
func problems(doc *manifest.Document) ([]fieldError, error) {
	known, err := lint.Knows(doc.Object.GroupVersionKind())
	if err != nil || !known {
		return nil, err
	}
	found, err := lint.Document(doc)
	var fields []fieldError
	for _, f := range found {
		fields = append(fields, fieldError{Field: f.Path, Message: f.Message})
	}
	return fields, err
}

// gathering gathers texts of several goroutines, each once.
type gathering struct {
	mu    sync.Mutex
	texts []string
}

func (g *gathering) add(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.texts, text) {
		g.texts = append(g.texts, text)
	}
}

func (g *gathering) all() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.texts
}
