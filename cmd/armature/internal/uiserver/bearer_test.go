package uiserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// newShared is a page in a cluster, for the viewers alice and bob, whose tokens are their names. Alice may see the namespace a, bob b.
func newShared(t *testing.T, api *apiServer) (*site, *Bearer) {
	t.Helper()
	login, err := NewBearer(t.Context(), func(token string) (*connect.Cluster, error) {
		refused := token != "alice" && token != "bob"
		cluster := api.cluster()
		cluster.Client = interceptor.NewClient(cluster.Client, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
				if refused {
					return apierrors.NewUnauthorized("unknown token")
				}
				err := c.Create(ctx, obj, opts...)
				if review, ok := obj.(*authenticationv1.SelfSubjectReview); ok {
					review.Status.UserInfo.Username = token
				}
				return err
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				o := (&client.ListOptions{}).ApplyOptions(opts)
				if o.Namespace != map[string]string{"alice": "a", "bob": "b"}[token] {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "jobflows"}, "", nil)
				}
				return c.List(ctx, list, opts...)
			},
		})
		return cluster, nil
	})
	require.NoError(t, err)
	handler, err := New(Options{Assets: page(), Login: login})
	require.NoError(t, err)
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return &site{t: t, url: server.URL, client: server.Client()}, login
}

func TestEachViewerHasHisOwnRights(t *testing.T) {
	s, login := newShared(t, newAPI(t, flowNamed("a", "of-alice"), flowNamed("b", "of-bob")))
	for _, name := range []string{"alice", "bob"} {
		s.bearer = name
		info := bodyOf[sessionInfo](t, s.get("/api/session"))
		assert.Equal(t, name, info.User)
		assert.Equal(t, "proxy", info.Login)
		l := s.listen("/api/stream/objects?kind=JobFlow&namespace=a&namespace=b")
		var rows []row
		forbidden := 0
		for _, e := range l.upTo("synced") {
			switch {
			case e.event == "set":
				rows = append(rows, decoded[[]row](t, e.data)...)
			case strings.Contains(e.data, `"state":"forbidden"`):
				forbidden++
			}
		}
		require.Len(t, rows, 1)
		assert.Equal(t, "of-"+name, rows[0].Name)
		assert.Equal(t, 1, forbidden)
	}
	assert.Equal(t, 2, login.viewers.Len())
}

func TestPastedToken(t *testing.T) {
	s, login := newShared(t, newAPI(t))
	answer := s.get("/api/session")
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	assert.Equal(t, "token", bodyOf[failure](t, answer).Login)
	assert.NotEmpty(t, answer.Header.Get("Strict-Transport-Security"))

	answer = s.post("/api/session", map[string]string{"token": "mallory"})
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	assert.Contains(t, bodyOf[failure](t, answer).Error, "the API server refuses the credential")
	assert.Zero(t, login.viewers.Len(), "who isn't let in takes no place")
	assert.Equal(t, http.StatusUnauthorized, s.post("/api/session", map[string]string{"token": " "}).StatusCode)
	assert.Equal(t, http.StatusBadRequest, s.post("/api/session", map[string]string{"token": strings.Repeat("x", maxToken+1)}).StatusCode)

	answer = s.post("/api/session", map[string]string{"token": " Bearer alice\n"})
	require.Equal(t, http.StatusOK, answer.StatusCode)
	cookie := answer.Cookies()[0]
	assert.Equal(t, "__Host-armature", cookie.Name)
	assert.True(t, cookie.Secure && cookie.HttpOnly && cookie.SameSite == http.SameSiteStrictMode && cookie.Domain == "" && cookie.Path == "/")
	s.cookie = cookie
	assert.Equal(t, "alice", bodyOf[sessionInfo](t, s.get("/api/session")).User)
	s.bearer = "bob"
	assert.Equal(t, "bob", bodyOf[sessionInfo](t, s.get("/api/session")).User, "the proxy's word counts")
}

// Who makes many tokens pushes out his own, and no one else's.
func TestManyTokensOfAUser(t *testing.T) {
	var ended []string
	login, err := NewBearer(t.Context(), nil)
	require.NoError(t, err)
	add := func(token, user string) {
		v := &Viewer{user: user, end: func() { ended = append(ended, token) }}
		_, known := login.add(sha256.Sum256([]byte(token)), v)
		assert.False(t, known)
	}
	add("alice", "alice")
	for i := range maxViewers {
		add(fmt.Sprint(i), fmt.Sprintf("system:serviceaccount:b:bot-%d", i))
	}
	assert.Equal(t, 1+maxOfAccount, login.viewers.Len())
	assert.Len(t, ended, maxViewers-maxOfAccount)
	assert.NotContains(t, ended, "alice")
	assert.Equal(t, "0", ended[0])
}

// A token that was good and is refused now ends its streams.
func TestRevokedTokenEndsStreams(t *testing.T) {
	api := newAPI(t)
	s := newSite(t, api)
	l := s.listen("/api/stream/objects?kind=JobFlow")
	l.until("synced", nil)
	api.revoke()
	assert.Contains(t, l.until("problem", nil), "Unauthorized")
}
