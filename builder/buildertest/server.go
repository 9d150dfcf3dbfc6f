package buildertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/crd"
)

// Server is the state of an API server, in memory. It is safe for concurrent use.
type Server struct {
	scheme     *runtime.Scheme
	kinds      *kinds
	crds       map[schema.GroupVersionKind]*crd.Kind
	types      managedfields.TypeConverter
	clock      *Clock
	ledger     *Ledger
	manual     bool // garbage is collected on demand only
	comparable bool // states are compared, so UIDs don't depend on the order of creations
	seeds      []client.Object

	mu       sync.Mutex
	version  uint64
	tables   map[schema.GroupVersionKind]map[types.NamespacedName]*history
	names    map[schema.GroupVersionKind][]types.NamespacedName // of the tables, in order, when they were listed last
	log      []change
	numbers  int // of generated names, UIDs and addresses
	indexes  indexes
	watchers map[*watcher]struct{}

	reads sync.Map // objects in the form of a client's Go type, by read
}

// firstVersion is the resource version of an empty server. A real server is never empty either.
const firstVersion = 1000

// Option configures a Server.
type Option func(*Server) error

// NewServer returns an empty API server for the kinds of a scheme. It panics if an option is invalid.
func NewServer(scheme *runtime.Scheme, options ...Option) *Server {
	s := &Server{
		scheme:   scheme,
		kinds:    newKinds(scheme),
		crds:     map[schema.GroupVersionKind]*crd.Kind{},
		clock:    NewClock(),
		ledger:   &Ledger{},
		tables:   map[schema.GroupVersionKind]map[types.NamespacedName]*history{},
		names:    map[schema.GroupVersionKind][]types.NamespacedName{},
		indexes:  indexes{},
		watchers: map[*watcher]struct{}{},
		version:  firstVersion,
	}
	s.types = newTypeConverter(s.crds)
	for _, option := range options {
		if err := option(s); err != nil {
			panic(fmt.Sprintf("buildertest: %v", err))
		}
	}
	if err := s.Add(s.seeds...); err != nil {
		panic(fmt.Sprintf("buildertest: %v", err))
	}
	return s
}

// WithStatusSubresource adds kinds, beside the built-in ones, whose status is a subresource.
func WithStatusSubresource(objs ...client.Object) Option {
	return func(s *Server) error {
		return s.kinds.each(objs, func(k schema.GroupVersionKind) { s.kinds.withStatus[k.GroupKind()] = true })
	}
}

// WithClusterScoped adds kinds, beside the built-in ones, that are cluster-scoped.
func WithClusterScoped(objs ...client.Object) Option {
	return func(s *Server) error {
		return s.kinds.each(objs, func(k schema.GroupVersionKind) { s.kinds.clusterScoped[k.GroupKind()] = true })
	}
}

// WithCRDs reads CustomResourceDefinitions from YAML files, and from directories of them, once for all servers with the option.
// They define the scope of a kind, its status subresource, its defaults, its fields, and how server-side apply merges its lists. The server
// refuses objects that their schemas don't admit, also those of [Server.Add], with the API server's errors. It checks neither CEL rules nor
// duplicates in lists of the types set and map. An update may keep what is wrong in the present object.
func WithCRDs(paths ...string) Option {
	read := sync.OnceValues(func() ([]*crd.Kind, error) { return crd.Read(paths...) })
	return func(s *Server) error {
		found, err := read()
		if err != nil {
			return err
		}
		for _, k := range found {
			s.crds[k.GroupVersionKind] = k
			gk := k.GroupKind()
			s.kinds.plurals[gk] = k.Plural
			s.kinds.withStatus[gk] = k.Status
			s.kinds.clusterScoped[gk] = !k.Namespaced
		}
		return nil
	}
}

// WithManualGarbageCollection keeps orphaned objects until a call of [Server.CollectGarbage], because a real server keeps them for a
// while. Default: the delete that orphans objects also deletes them, and so does the write that gives an object only absent owners.
func WithManualGarbageCollection() Option {
	return func(s *Server) error { s.manual = true; return nil }
}

// WithObjects adds initial objects, after all other options: see [Server.Add].
func WithObjects(objs ...client.Object) Option {
	return func(s *Server) error { s.seeds = append(s.seeds, objs...); return nil }
}

// Clock returns the server's clock.
func (s *Server) Clock() *Clock { return s.clock }

// Ledger returns the record of all calls.
func (s *Server) Ledger() *Ledger { return s.ledger }

// Client returns a client that reads the server's present state. name is the client's name in its calls, and its default field
// manager. Default: [DefaultName].
func (s *Server) Client(name ...string) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return newClient(s, strings.Join(name, "/"))
}

// Add adds objects to the server as if they had always existed, with their status and, if set, their UID. It sets defaults and
// validates only the name. No [Ledger] records it.
func (s *Server) Add(objs ...client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, obj := range objs {
		if err := s.seed(obj); err != nil {
			return err
		}
	}
	return nil
}

// IndexField registers an index for all clients, which List uses with client.MatchingFields.
func (s *Server) IndexField(_ context.Context, obj client.Object, field string, values client.IndexerFunc) error {
	k, err := s.kinds.of(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.indexes.add(k.gvk, field, values)
}

// Version returns the server's resource version. Each change increases it.
func (s *Server) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Stored returns what Objects does without copying it: the server's own objects, which callers must not change. A later write replaces
// an object, and doesn't change it.
func (s *Server) Stored() []client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored()
}

// Objects returns untyped copies of all objects, ordered by kind, namespace and name.
func (s *Server) Objects() []client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all()
}

func (s *Server) now() metav1.Time { return metav1.NewTime(s.clock.Now().Truncate(time.Second)) }
