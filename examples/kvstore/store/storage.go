package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// value is what a key has, as of a version; the higher one is the newer.
type value struct {
	Version int64  `json:"version"`
	Data    string `json:"data"`
}

// storage keeps values.
type storage struct {
	*node
	mu     sync.Mutex
	values map[string]value
	log    *log
	load   load
}

// newStorage reads what the node has on disk. Without a directory it keeps values in memory.
func newStorage(n *node, dir string) (*storage, error) {
	s := &storage{node: n, values: map[string]value{}}
	if dir != "" {
		var err error
		if s.log, err = openLog(filepath.Join(dir, "log"), func(e entry) { s.values[e.Key] = e.value }); err != nil {
			return nil, err
		}
	}
	n.mux.HandleFunc("PUT /kv/{key}", s.handlePut)
	n.mux.HandleFunc("GET /kv/{key}", s.handleGet)
	n.mux.HandleFunc("GET /dump", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(s.all()) })
	n.mux.HandleFunc("GET /load", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "%.1f\n", s.load.perSecond(time.Now())) })
	return s, nil
}

// put keeps a value if it is newer than what the key has.
func (s *storage) put(key string, v value) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key].Version >= v.Version {
		return nil
	}
	if err := s.log.append(entry{key, v}); err != nil {
		return err
	}
	s.values[key] = v
	return nil
}

func (s *storage) all() map[string]value {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]value, len(s.values))
	maps.Copy(all, s.values)
	return all
}

func (s *storage) handlePut(w http.ResponseWriter, r *http.Request) {
	s.load.count(time.Now())
	version, err := strconv.ParseInt(r.URL.Query().Get("version"), 10, 64)
	data, readErr := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || readErr != nil {
		http.Error(w, "want a version and at most 1 MiB", http.StatusBadRequest)
		return
	}
	if err := s.put(r.PathValue("key"), value{version, string(data)}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *storage) handleGet(w http.ResponseWriter, r *http.Request) {
	s.load.count(time.Now())
	s.mu.Lock()
	v, ok := s.values[r.PathValue("key")]
	s.mu.Unlock()
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

// start takes over from the others what the node is to have.
func (s *storage) start(ctx context.Context) error {
	var members []Member
	for {
		var err error
		if members, err = s.peers.storage(ctx); err == nil {
			break
		}
		if !pause(ctx, lookEvery) {
			return ctx.Err()
		}
	}
	others := without(members, s.pod)
	withMe := append(slices.Clone(others), Member{Name: s.pod})
	for _, m := range others {
		var dump map[string]value
		if err := ask(ctx, m, "/dump", &dump); err != nil {
			continue // it is going: it hands over what it has
		}
		for key, v := range dump {
			if !contains(owners(withMe, key, s.replicas()), s.pod) {
				continue
			}
			if err := s.put(key, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop hands over to the others what the node has.
func (s *storage) stop(ctx context.Context) {
	members, err := s.peers.storage(ctx)
	others := without(members, s.pod)
	if err != nil || len(others) == 0 {
		return
	}
	for key, v := range s.all() {
		for _, m := range owners(others, key, s.replicas()) {
			path := "/kv/" + url.PathEscape(key) + "?version=" + strconv.FormatInt(v.Version, 10)
			_ = call(ctx, http.MethodPut, m, path, []byte(v.Data), nil) // the value is on disk, too
		}
	}
}

func without(members []Member, name string) []Member {
	var others []Member
	for _, m := range members {
		if m.Name != name {
			others = append(others, m)
		}
	}
	return others
}

func contains(members []Member, name string) bool { return len(without(members, name)) < len(members) }

// load counts requests by the second, for the last few.
type load struct {
	mu      sync.Mutex
	seconds [8]int64
	counts  [8]int
}

// over is how many seconds are looked at.
const over = 4

func (l *load) count(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := now.Unix() % int64(len(l.seconds))
	if l.seconds[i] != now.Unix() {
		l.seconds[i], l.counts[i] = now.Unix(), 0
	}
	l.counts[i]++
}

// perSecond is the average of the last full seconds.
func (l *load) perSecond(now time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := 0
	for i, second := range l.seconds {
		if age := now.Unix() - second; age >= 1 && age <= over {
			total += l.counts[i]
		}
	}
	return float64(total) / over
}
