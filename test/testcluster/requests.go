package testcluster

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/armature-dev/armature/builder/rbac"
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
			needed := rbac.OfRequest(r)
			a.used.Note(needed...)
			response, err := next.RoundTrip(r)
			if err == nil && response.StatusCode == http.StatusForbidden {
				body, readErr := io.ReadAll(response.Body)
				response.Body.Close()
				response.Body = io.NopCloser(bytes.NewReader(body))
				// Quotas and namespaces that are going say "forbidden", too; only this is about permissions.
				if readErr == nil && len(needed) > 0 && bytes.Contains(body, []byte("cannot "+needed[0].Verb+" resource")) {
					denied.add(fmt.Sprintf("not among the permissions: %s: %s", needed[0], body))
				}
			}
			return response, err
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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
			return fmt.Errorf("%s has permissions in %s that no test made use of: %v", a.user, rolesDir, unused)
		}
	}
	return nil
}
