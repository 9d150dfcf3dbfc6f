package uiserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

const (
	// bearerCookie holds a viewer's token. By its prefix browsers keep it for this host alone, and only by https.
	bearerCookie = "__Host-armature"
	// maxToken is the longest token that fits into a cookie.
	maxToken = 3800
	// maxViewers is how many viewers the server remembers. Who is forgotten, is asked for again at his next request.
	maxViewers = 500
	// maxOfAccount is how many of them one user has, or the ServiceAccounts of one namespace: users can make any number of tokens.
	maxOfAccount = 50
)

// Bearer serves everyone who sends a bearer token that the API server accepts: in the header Authorization, as a proxy sets it, or in
// the cookie that a login sets. The server stores no token.
type Bearer struct {
	ctx     context.Context
	connect func(token string) (*connect.Cluster, error)
	viewers *lru.Cache[[sha256.Size]byte, *Viewer]
	adding  sync.Mutex
}

// NewBearer returns the login by tokens. The connect function returns a connection that has the token's rights and no others.
func NewBearer(ctx context.Context, connect func(token string) (*connect.Cluster, error)) (*Bearer, error) {
	viewers, err := lru.NewWithEvict(maxViewers, func(_ [sha256.Size]byte, v *Viewer) { v.end() })
	return &Bearer{ctx: ctx, connect: connect, viewers: viewers}, err
}

// sentToken is the token of the header Authorization, empty if there is none.
func sentToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (b *Bearer) viewer(r *http.Request) (*Viewer, error) {
	token := sentToken(r)
	if c, err := r.Cookie(bearerCookie); err == nil && token == "" {
		token = c.Value
	}
	if token == "" {
		return nil, errNoSession
	}
	return b.known(r.Context(), token)
}

// known returns the viewer of a token. One that the API server refuses takes no place among the others.
func (b *Bearer) known(ctx context.Context, token string) (*Viewer, error) {
	key := sha256.Sum256([]byte(token))
	if v, ok := b.viewers.Get(key); ok {
		return v, nil
	}
	cluster, err := b.connect(token)
	if err != nil {
		return nil, err
	}
	v, err := NewViewer(b.ctx, cluster)
	if err != nil {
		return nil, err
	}
	if err := v.identify(ctx); err != nil {
		v.end()
		return nil, err
	}
	if other, ok := b.add(key, v); ok {
		v.end()
		return other, nil
	}
	return v, nil
}

// add remembers a viewer, unless another request has done so. It forgets the least recently used ones of a user who has as many as one may
// have, so that his tokens push no one else out.
func (b *Bearer) add(key [sha256.Size]byte, v *Viewer) (other *Viewer, known bool) {
	b.adding.Lock()
	defer b.adding.Unlock()
	if other, known = b.viewers.Get(key); known {
		return other, true
	}
	var own [][sha256.Size]byte
	for _, key := range b.viewers.Keys() { // from the least recently used one
		if other, ok := b.viewers.Peek(key); ok && other.account() == v.account() {
			own = append(own, key)
		}
	}
	for _, key := range own[:max(len(own)+1-maxOfAccount, 0)] {
		b.viewers.Remove(key)
	}
	b.viewers.Add(key, v)
	return nil, false
}

func (b *Bearer) login(w http.ResponseWriter, r *http.Request, token string) (*Viewer, error) {
	token = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(token), "Bearer "))
	if token == "" {
		return nil, errNoSession
	}
	if len(token) > maxToken {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the token has %d bytes, and a cookie holds at most %d: let a proxy send it in the Authorization header", len(token), maxToken))
	}
	v, err := b.known(r.Context(), token)
	if err != nil {
		return nil, err
	}
	http.SetCookie(w, &http.Cookie{
		Name: bearerCookie, Value: token, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode,
	})
	return v, nil
}

func (b *Bearer) logout(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name: bearerCookie, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode, MaxAge: -1,
	})
}

// accepts any name: by https, and with a cookie that belongs to the name, another site's name leads nowhere.
func (b *Bearer) accepts(*http.Request) bool { return true }

func (b *Bearer) describe(r *http.Request) place {
	p := place{Mode: "cluster", Login: "token"}
	if sentToken(r) != "" {
		p.Login = "proxy"
	}
	return p
}
