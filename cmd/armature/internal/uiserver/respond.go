package uiserver

import (
	"encoding/json"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failure is the body of a refused request.
type failure struct {
	Error  string       `json:"error"`
	Reason string       `json:"reason,omitempty"`
	Login  string       `json:"login,omitempty"`
	Fields []fieldError `json:"fields,omitempty"`
}

// fieldError is what is wrong with one field.
type fieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// writeJSON writes a body. Package json escapes <, > and &, so that no browser can take text for markup.
func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // an error is the browser's leaving
}

func writeError(w http.ResponseWriter, code int, reason, message string) {
	writeJSON(w, code, failure{Error: message, Reason: reason})
}

// refuse answers with an error: the API server's own code, if it has one.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	code, f := failureOf(err)
	if code == http.StatusUnauthorized {
		f.Login = s.Login.describe(r).Login
		var byAPIServer apierrors.APIStatus
		if f.Login == byLink && errors.As(err, &byAPIServer) {
			f.Login = "" // it refuses the kubeconfig's credential, against which no link helps
		}
	}
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", retryAfter)
	}
	writeJSON(w, code, f)
}

// retryAfter is when a request refused beside too many others may be sent again, in seconds.
const retryAfter = "5"

// failureOf returns the response for an error. An error that is neither of the API server nor a refusal of the page means that the API
// server doesn't respond.
func failureOf(err error) (code int, f failure) {
	f = failure{Error: err.Error()}
	var status apierrors.APIStatus
	var refused *refusal
	switch {
	case errors.Is(err, errNoSession):
		return http.StatusUnauthorized, f
	case errors.As(err, &refused):
		f.Reason = refused.reason
		return refused.code, f
	case meta.IsNoMatchError(err):
		f.Reason = string(metav1.StatusReasonNotFound)
		return http.StatusNotFound, f
	case errors.As(err, &status) && status.Status().Code > 0:
		f.Reason = string(status.Status().Reason)
		if details := status.Status().Details; details != nil {
			for _, c := range details.Causes {
				if c.Field != "" {
					f.Fields = append(f.Fields, fieldError{Field: c.Field, Message: c.Message})
				}
			}
		}
		code = int(status.Status().Code)
		if code < 400 || code > 499 {
			code = http.StatusBadGateway
		}
		return code, f
	default:
		return http.StatusBadGateway, f
	}
}

// refusal is an error of a request itself.
type refusal struct {
	code   int
	reason string
	text   string
}

func (r *refusal) Error() string { return r.text }

func badRequest(text string) error { return &refusal{http.StatusBadRequest, "BadRequest", text} }
