package uiserver

import "net/http"

// sessionInfo is who is there, and where.
type sessionInfo struct {
	place
	User    string   `json:"user,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Version string   `json:"version,omitempty"`
}

func (s *server) session(w http.ResponseWriter, r *http.Request) {
	v, err := s.Login.viewer(r)
	if err == nil {
		err = v.identify(r.Context())
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.writeSession(w, r, v)
}

func (s *server) writeSession(w http.ResponseWriter, r *http.Request, v *Viewer) {
	user, groups := v.identity()
	writeJSON(w, http.StatusOK, sessionInfo{place: s.Login.describe(r), User: user, Groups: groups, Version: s.Version})
}

func (s *server) login(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string `json:"token"`
	}
	if err := decode(w, r, maxBody, &body); err != nil {
		s.refuse(w, r, err)
		return
	}
	v, err := s.Login.login(w, r, body.Token)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.writeSession(w, r, v)
}

func (s *server) logout(w http.ResponseWriter, _ *http.Request) {
	s.Login.logout(w)
	w.WriteHeader(http.StatusNoContent)
}
