package uiserver

import (
	"mime"
	"net/http"
)

// policy allows the page its own files and this server, and nothing else. Trusted Types keep markup out of its documents.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

const (
	// maxBody is the size limit of a request, in bytes.
	maxBody = 64 << 10
	// maxObjectBody is that of a request with an object: what an object may have in etcd, and some.
	maxObjectBody = 4 << 20
)

// guarded refuses requests of other sites, and sets the content security policy of the page.
func (s *server) guarded(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusForbidden, "CrossOrigin", "the request comes from another site")
	}))
	protected := crossOrigin.Handler(jsonOnly(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !s.Login.accepts(r) {
			writeError(w, http.StatusMisdirectedRequest, "Host", "this server has another name: open the link that armature ui has printed")
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// jsonOnly refuses bodies that a form of another site could send without the browser asking first.
func jsonOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
				writeError(w, http.StatusUnsupportedMediaType, "ContentType", "Content-Type must be application/json")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
