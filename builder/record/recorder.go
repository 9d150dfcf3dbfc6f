package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/flight"
)

// Path is where a manager serves the passes of a recorder.
const Path = "/debug/passes"

// Recorder keeps the last passes that wrote or failed, up to a number of bytes. It is safe for concurrent use.
type Recorder struct {
	// Settings are settings of the program that its plans depend on beside their arguments. A program that replays passes gives its
	// operators the same ones. Set them before Around. Default: nil, none.
	Settings map[string]string

	limit  int
	logger logr.Logger
	former *former

	mu      sync.Mutex
	kept    []kept // oldest first
	size    int
	dropped int // passes that were too large by themselves
}

// kept is a pass as gzipped JSON.
type kept struct {
	owner  Owner
	packed []byte
}

// Owner selects passes. An empty field selects all.
type Owner struct {
	// Kind is the kind and group, without regard to case: "JobFlow.api.practice.com". Without a group it is that of any group.
	Kind string
	// Namespace and Name are the owner's.
	Namespace, Name string
}

// NewRecorder returns a recorder that keeps passes of at most so many bytes in all, compressed; a pass usually takes 2 to 20 KiB.
// With 0 or less it keeps nothing.
func NewRecorder(bytes int) *Recorder {
	return &Recorder{limit: bytes, logger: logr.Discard(), former: newFormer()}
}

// Around returns a manager whose operators record their passes here: pass it to builder.NewOperator. The manager's logger gets the
// passes that can't be recorded, of which no pass fails.
func (r *Recorder) Around(mgr manager.Manager) manager.Manager {
	r.logger = mgr.GetLogger()
	return recording{mgr, r}
}

type recording struct {
	manager.Manager
	recorder *Recorder
}

// Unwrap returns the manager without the recorder.
func (m recording) Unwrap() manager.Manager { return m.Manager }

// FlightRecorder returns the recorder of the manager's operators.
func (m recording) FlightRecorder() flight.Recorder { return m.recorder }

// RecordPass keeps a pass. Operators call it.
func (r *Recorder) RecordPass(p flight.Pass) {
	pass, err := render(p, r.former)
	var packed []byte
	if err == nil {
		pass.Program.Settings = r.Settings
		packed, err = pack(pass)
	}
	if err != nil {
		r.logger.Error(err, "a pass can't be recorded", "operator", p.Operator, "namespace", p.Owner.GetNamespace(), "name", p.Owner.GetName())
		return
	}
	of := Owner{renderer{p.Scheme}.kind(p.Owner), p.Owner.GetNamespace(), p.Owner.GetName()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(packed) > r.limit {
		if r.dropped++; r.dropped == 1 {
			r.logger.Info("a pass is larger than the recorder, and isn't kept", "operator", p.Operator, "owner", pass.OwnerName(),
				"bytes", len(packed), "limit", r.limit)
		}
		return
	}
	r.kept = append(r.kept, kept{of, packed})
	r.size += len(packed)
	for r.size > r.limit {
		r.size -= len(r.kept[0].packed)
		r.kept = slices.Delete(r.kept, 0, 1)
	}
}

// Size returns the number of bytes of all kept passes, and how many passes were dropped because one alone was above the limit.
func (r *Recorder) Size() (bytes, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size, r.dropped
}

// Passes returns the kept passes of the owners that are selected, oldest first.
func (r *Recorder) Passes(of Owner) (*List, error) {
	r.mu.Lock()
	var selected [][]byte
	for _, k := range r.kept {
		if of.selects(k.owner) {
			selected = append(selected, k.packed)
		}
	}
	r.mu.Unlock()
	list := &List{APIVersion: APIVersion, Kind: Kind, Items: []Pass{}}
	for _, packed := range selected {
		pass, err := unpack(packed)
		if err != nil {
			return nil, fmt.Errorf("read a kept pass: %w", err)
		}
		list.Items = append(list.Items, *pass)
	}
	return list, nil
}

func (o Owner) selects(other Owner) bool {
	kind, _, _ := strings.Cut(other.Kind, ".")
	return (o.Kind == "" || strings.EqualFold(o.Kind, other.Kind) || strings.EqualFold(o.Kind, kind)) &&
		(o.Namespace == "" || o.Namespace == other.Namespace) && (o.Name == "" || o.Name == other.Name)
}

// ServeHTTP serves the passes that the query's kind, namespace and name select, as a [List]. Let only those read it who may read all
// objects of the operators: by [Recorder.Listen], or in the server of the program's metrics, behind the server's filter:
//
//	err := mgr.AddMetricsServerExtraHandler(record.Path, recorder)
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}
	query := req.URL.Query()
	list, err := r.Passes(Owner{Kind: query.Get("kind"), Namespace: query.Get("namespace"), Name: query.Get("name")})
	if err != nil {
		r.logger.Error(err, "recorded passes can't be served")
		http.Error(w, "the recorded passes can't be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := list.Write(w); err != nil {
		r.logger.V(1).Info("a client left", "err", err.Error())
	}
}

// Listen lets a manager serve the passes at [Path] of an address, without authentication. Use an address of localhost: in a pod, only those
// reach it who may forward its ports, which the API server decides. It answers requests by an IP address, by localhost, or by the address's
// own name. Listen opens the address at once, and returns an error if it can't.
func (r *Recorder) Listen(mgr manager.Manager, address string) error {
	listener, err := net.Listen("tcp", address) //nolint:noctx // it is opened at once
	if err != nil {
		return fmt.Errorf("serve the recorded passes: %w", err)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("serve the recorded passes: %w", errors.Join(err, listener.Close()))
	}
	mux := http.NewServeMux()
	mux.Handle(Path, onlyByName(host, r))
	return mgr.Add(&manager.Server{
		Name: "recorded passes", Listener: listener,
		Server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10},
	})
}

// onlyByName refuses requests by another name than the server's: a site whose name leads to this address (DNS rebinding) could let a
// browser here read the answers. It can't take over an IP address or localhost, which are not looked up in its DNS.
func onlyByName(name string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		host, _, err := net.SplitHostPort(req.Host)
		if err != nil {
			host = strings.Trim(req.Host, "[]")
		}
		_, err = netip.ParseAddr(host)
		if err != nil && !strings.EqualFold(host, "localhost") && (name == "" || !strings.EqualFold(host, name)) {
			http.Error(w, "use the IP address, localhost, or the name of the address where the passes are served", http.StatusMisdirectedRequest)
			return
		}
		handler.ServeHTTP(w, req)
	})
}

func pack(pass *Pass) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(pass); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return slices.Clip(packed.Bytes()), nil
}

func unpack(packed []byte) (*Pass, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		return nil, err
	}
	var pass Pass
	return &pass, decode(text, &pass)
}
