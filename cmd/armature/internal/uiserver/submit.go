package uiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sync"

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

// create creates the object of a submission, or has its creation checked, in one of the turns of the user. The client has no part in the
// turn: it has sent the object before, and is sent the answer afterwards.
func (s *server) create(w http.ResponseWriter, r *http.Request, v *Viewer) (code int, answer any, err error) {
	text, err := receive(w, r, v)
	if err != nil {
		return 0, nil, err
	}
	end, err := submissions.begin(v)
	if err != nil {
		return 0, nil, err
	}
	defer end()
	doc, err := readDocument(r.Context(), text)
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

// receive returns the body of a submission.
func receive(w http.ResponseWriter, r *http.Request, v *Viewer) ([]byte, error) {
	var text bytes.Buffer
	body := http.MaxBytesReader(w, r.Body, maxObjectBody)
	_, err := text.ReadFrom(io.LimitReader(body, maxBody+1))
	if err == nil && text.Len() > maxBody {
		end, tooMany := large.begin(v)
		if tooMany != nil {
			return nil, tooMany
		}
		defer end()
		_, err = text.ReadFrom(body)
	}
	return text.Bytes(), refusalOf(err)
}

// readDocument reads the one object of a submission, once there is a slot.
func readDocument(ctx context.Context, text []byte) (*manifest.Document, error) {
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var body submission
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, refusalOf(err)
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
