package uiserver

import (
	"io/fs"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Options of a server.
type Options struct {
	// Assets is the built page.
	Assets fs.FS
	// Version is shown.
	Version string
	// Login identifies viewers.
	Login Login
	// Kinds are shown beside Armature's own. CheckKinds accepts them.
	Kinds []schema.GroupKind

	pace reminderPace // tests have a faster one
}

// server is the API below /api/, and the page.
type server struct {
	Options
}

// New returns the handler of all paths.
func New(o Options) (http.Handler, error) {
	if o.pace == (reminderPace{}) {
		o.pace = defaultPace
	}
	s := &server{o}
	page, err := newPage(o.Assets)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/session", s.session)
	mux.HandleFunc("POST /api/session", s.login)
	mux.HandleFunc("DELETE /api/session", s.logout)
	mux.HandleFunc("GET /api/access", s.known(s.access))
	mux.HandleFunc("GET /api/stream/objects", s.known(s.counted(s.streamObjects)))
	mux.HandleFunc("GET /api/stream/flow", s.known(s.counted(s.streamFlow)))
	mux.HandleFunc("GET /api/stream/detail", s.known(s.counted(s.streamDetail)))
	mux.HandleFunc("GET /api/stream/logs", s.known(s.counted(s.streamLogs)))
	mux.HandleFunc("GET /api/stream/queues", s.known(s.counted(s.streamQueues)))
	mux.HandleFunc("GET /api/schema", s.known(s.schema))
	mux.HandleFunc("GET /api/compare", s.known(s.compare))
	mux.HandleFunc("POST /api/actions", s.known(s.act))
	mux.HandleFunc("POST /api/submit", s.known(s.submit))
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "NotFound", "there is no such path; see ui/API.md")
	})
	mux.Handle("GET /", page)
	return s.guarded(mux), nil
}

// known runs a handler for the viewer of a request.
func (s *server) known(handle func(http.ResponseWriter, *http.Request, *Viewer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.Login.viewer(r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		handle(w, r, v)
	}
}

// counted runs the handler of a stream as one of those that the viewer may have open.
func (s *server) counted(handle func(http.ResponseWriter, *http.Request, *Viewer)) func(http.ResponseWriter, *http.Request, *Viewer) {
	return func(w http.ResponseWriter, r *http.Request, v *Viewer) {
		end, err := streams.begin(v)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer end()
		handle(w, r, v)
	}
}
