package testcluster

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// denials are the requests of one test that were forbidden.
type denials struct {
	mu   sync.Mutex
	said []string
}

func (d *denials) add(said string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, said)
}

func (d *denials) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said
}

// watch returns a wrapper of connections that notes what the account asks for, and what of it is denied.
func (a *account) watch(denied *denials) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			a.mu.Lock()
			for _, verb := range VerbsOf(r) {
				a.used[verb] = true
			}
			a.mu.Unlock()
			response, err := next.RoundTrip(r)
			if err == nil && response.StatusCode == http.StatusForbidden {
				body, readErr := io.ReadAll(response.Body)
				response.Body.Close()
				response.Body = io.NopCloser(bytes.NewReader(body))
				// Quotas and namespaces that are going say "forbidden", too; only this is about permissions.
				if readErr == nil && bytes.Contains(body, []byte("cannot "+strings.SplitN(verbOf(r), " ", 2)[0]+" resource")) {
					denied.add(fmt.Sprintf("not among the permissions: %s: %s", verbOf(r), body))
				}
			}
			return response, err
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// VerbsOf names what a request needs a permission for, as a role does: "create jobs.batch", "get secrets.". Of discovery, which
// is for everyone, nothing. A watch counts as a list, too: where the server can't stream a list, there is one first.
func VerbsOf(r *http.Request) []string {
	verb := verbOf(r)
	if verb == "" {
		return nil
	}
	if kind, isWatch := strings.CutPrefix(verb, "watch "); isWatch {
		return []string{verb, "list " + kind}
	}
	return []string{verb}
}

// verbOf names what a request asks for, as a role does: "create jobs.batch". Discovery, for everyone, is "".
func verbOf(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	verb := map[string]string{
		http.MethodPost: "create", http.MethodPatch: "patch", http.MethodPut: "update", http.MethodDelete: "delete",
	}[r.Method]
	switch {
	case r.Method == http.MethodGet && len(parts) > 1:
		verb = "get"
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		verb = "watch"
	case r.Method == http.MethodGet:
		verb = "list"
	}
	return fmt.Sprintf("%s %s.%s", verb, resource, group)
}

// checkUnused says which permissions the tests of this binary had no use for. When only some of the tests ran, nothing
// can be said.
func checkUnused() error {
	for _, name := range []string{"test.run", "test.skip"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return nil
		}
	}
	accounts.mu.Lock()
	defer accounts.mu.Unlock()
	for _, a := range accounts.all {
		if unused := a.unused(); len(unused) > 0 {
			return fmt.Errorf("%s has permissions in %s that no test made use of: %s", a.user, rolesDir, strings.Join(unused, ", "))
		}
	}
	return nil
}
