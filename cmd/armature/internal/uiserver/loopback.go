package uiserver

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
)

// Login identifies the viewer of a request.
type Login interface {
	// viewer returns the viewer, or errNoSession.
	viewer(r *http.Request) (*Viewer, error)
	// login begins a session by a token.
	login(w http.ResponseWriter, r *http.Request, token string) (*Viewer, error)
	logout(w http.ResponseWriter)
	// accepts reports whether a request has come to this server by a name of its own.
	accepts(r *http.Request) bool
	// describe says how one logs in, and where one is.
	describe(r *http.Request) place
}

// byLink is how one logs in on loopback.
const byLink = "link"

// place is what the session says of the server.
type place struct {
	Mode      string `json:"mode"`
	Login     string `json:"login"`
	Server    string `json:"server,omitempty"`
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

var errNoSession = errors.New("no session: log in first")

// Loopback serves the one person who has the kubeconfig and the link with the token.
type Loopback struct {
	token, session string
	port           string
	context        string
	one            *Viewer
}

// NewLoopback returns the login of a server at a loopback address. The context is the kubeconfig's, to be shown.
func NewLoopback(v *Viewer, address net.Addr, context string) (*Loopback, error) {
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil, err
	}
	return &Loopback{token: rand.Text(), session: rand.Text(), port: port, context: context, one: v}, nil
}

// Link is the page's address with the token, which the browser doesn't send anywhere by itself.
func (l *Loopback) Link() string { return "http://127.0.0.1:" + l.port + "/#token=" + l.token }

// cookie is named after the port, since cookies are shared by all ports of a host.
func (l *Loopback) cookie() string { return "armature-ui-" + l.port }

func (l *Loopback) viewer(r *http.Request) (*Viewer, error) {
	c, err := r.Cookie(l.cookie())
	if err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(l.session)) != 1 {
		return nil, errNoSession
	}
	return l.one, nil
}

func (l *Loopback) login(w http.ResponseWriter, _ *http.Request, token string) (*Viewer, error) {
	if subtle.ConstantTimeCompare([]byte(token), []byte(l.token)) != 1 {
		return nil, &refusal{http.StatusUnauthorized, "Unauthorized", "this isn't the token of the link that armature ui has printed"}
	}
	http.SetCookie(w, &http.Cookie{
		Name: l.cookie(), Value: l.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	return l.one, nil
}

func (l *Loopback) logout(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name: l.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: -1,
	})
}

// accepts refuses names that lead to the loopback address without being its own: another site's, rebound to it.
func (l *Loopback) accepts(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	return port == l.port && (host == "127.0.0.1" || host == "localhost" || host == "::1")
}

func (l *Loopback) describe(*http.Request) place {
	p := place{Mode: "loopback", Login: byLink, Context: l.context, Namespace: l.one.cluster.Namespace}
	if l.one.cluster.Config != nil {
		p.Server = l.one.cluster.Config.Host
	}
	return p
}
