package lab

import (
	"maps"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Requests counts the requests of a connection by verb and resource, such as "POST jobs" and "PATCH jobflows/status".
// Watches are not among them.
type Requests struct {
	mu    sync.Mutex
	count map[string]int
}

// Watch makes the counter see the requests of a connection.
func (r *Requests) Watch(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if !strings.Contains(req.URL.RawQuery, "watch=") {
				r.add(req.Method + " " + resourceOf(req.URL.Path))
			}
			return next.RoundTrip(req)
		})
	}
	return cfg
}

// resourceOf takes resource and subresource out of a path: /apis/<group>/<version>/namespaces/<ns>/<resource>/<name>/<sub>.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	default:
		return path
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	if len(parts) > 2 {
		return parts[0] + "/" + parts[2]
	}
	return parts[0]
}

func (r *Requests) add(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[string]int{}
	}
	r.count[what]++
}

// Take returns what was counted since the last take.
func (r *Requests) Take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := maps.Clone(r.count)
	clear(r.count)
	return taken
}
