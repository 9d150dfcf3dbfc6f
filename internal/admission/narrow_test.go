package admission

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// All of a resource are asked for by one name; whatever else is asked stays as it is.
func TestOnlyOneIsAskedFor(t *testing.T) {
	var asked string
	narrow := byName{map[string]string{"secrets": "armature-webhook"}, roundTripper(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, nil
	})}
	for _, tt := range []struct{ method, url, want string }{
		{http.MethodGet, "/api/v1/namespaces/ns/secrets?watch=true", "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Darmature-webhook&watch=true"},
		{http.MethodGet, "/api/v1/namespaces/ns/pods", "/api/v1/namespaces/ns/pods"},
		{http.MethodGet, "/api/v1/namespaces/ns/secrets/other", "/api/v1/namespaces/ns/secrets/other"},
		{http.MethodPost, "/api/v1/namespaces/ns/secrets", "/api/v1/namespaces/ns/secrets"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, nil)
		require.NoError(t, err)
		_, err = narrow.RoundTrip(request) //nolint:bodyclose // there is none
		require.NoError(t, err)
		assert.Equal(t, tt.want, asked)
		assert.Equal(t, tt.url, request.URL.String(), "the request that was given stays as it is")
	}
}
