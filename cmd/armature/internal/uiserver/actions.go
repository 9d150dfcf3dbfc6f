package uiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/controlcmd"
	"github.com/armature-dev/armature/internal/wellknown"
)

// action is what a viewer asks for.
type action struct {
	Verb      string    `json:"verb"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// Node is the node of a flow to run again from.
	Node string `json:"node"`
}

// done is the outcome of an action.
type done struct {
	Changed bool   `json:"changed"`
	Message string `json:"message"`
	Created *named `json:"created,omitempty"`
}

// named names an object that was made.
type named struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// act does what a viewer asks for, with his rights.
func (s *server) act(w http.ResponseWriter, r *http.Request, v *Viewer) {
	var a action
	err := decode(w, r, maxBody, &a)
	if err == nil && (a.Name == "" || a.UID == "") {
		err = badRequest("name and uid must be set")
	}
	var result done
	if err == nil {
		result, err = s.do(r.Context(), v, a)
	}
	if apierrors.IsForbidden(err) {
		v.rights.forget()
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, result)
}

func (s *server) do(ctx context.Context, v *Viewer, a action) (done, error) {
	c := v.cluster.Client
	k, err := s.find(c.RESTMapper(), a.Kind)
	if err != nil {
		return done{}, err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(k.GroupVersionKind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: a.Name}, obj); err != nil {
		return done{}, err
	}
	if obj.GetUID() != a.UID {
		return done{}, &refusal{http.StatusConflict, "Conflict", fmt.Sprintf(
			"%s %s is another object than the one that is shown: its uid is %s, not %s", a.Kind, a.Name, obj.GetUID(), a.UID)}
	}
	switch a.Verb {
	case "delete":
		uid := obj.GetUID()
		err := c.Delete(ctx, obj, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
		return done{Changed: true, Message: "deleted"}, err
	case "rerun":
		return v.rerun(ctx, obj, a.Node)
	}
	isNews, verb, err := controlcmd.Send(a.Verb, obj, func(patch []byte) error {
		return c.Patch(ctx, obj.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(wellknown.FieldOwner))
	}, func() (*unstructured.Unstructured, error) {
		now := obj.DeepCopy()
		return now, c.Get(ctx, client.ObjectKeyFromObject(obj), now)
	})
	if refused, ok := errors.AsType[*controlcmd.Refusal](err); ok {
		return done{}, &refusal{http.StatusUnprocessableEntity, "Refused", refused.Error()}
	}
	if err == nil && !isNews {
		verb = "it is " + verb + " already"
	}
	return done{Changed: isNews, Message: verb}, err
}

// decode reads a body, of at most so many bytes.
func decode(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit)) // to its end: from then on the server notices when the client leaves
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return refusalOf(err)
}

// refusalOf returns the refusal of a body that can't be read, nil without an error.
func refusalOf(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &refusal{http.StatusRequestEntityTooLarge, string(metav1.StatusReasonRequestEntityTooLarge),
			fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit)}
	case err != nil:
		return badRequest("the body isn't what ui/API.md says: " + err.Error())
	default:
		return nil
	}
}
