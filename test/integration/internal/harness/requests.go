package harness

import (
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// Requests are those that were made on a connection, but for watches: "GET /api/v1/namespaces/default/pods". The zero value is
// ready for use.
type Requests struct {
	mu   sync.Mutex
	made []string
}

// Record lets all requests on a connection be recorded, from the next client on.
func (r *Requests) Record(connection *rest.Config) {
	connection.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.URL.Query().Get("watch") == "" {
				r.mu.Lock()
				r.made = append(r.made, request.Method+" "+request.URL.Path)
				r.mu.Unlock()
			}
			return next.RoundTrip(request)
		})
	})
}

// All returns the requests since Take was last called.
func (r *Requests) All() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}

// Take returns the requests since it was last called, and forgets them.
func (r *Requests) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.made
	r.made = nil
	return taken
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
