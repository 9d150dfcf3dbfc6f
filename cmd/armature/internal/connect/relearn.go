package connect

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// relearnAfter is how long it isn't asked again which kinds there are. Some kinds that commands look for are missing in most clusters.
const relearnAfter = time.Minute

// learner learns the kinds of the cluster again: kinds can be installed while a command runs, and client-go's caches never expire.
type learner struct {
	forget func()

	mu sync.Mutex
	at time.Time // when the kinds were last learnt
}

// learning returns a discovery and its mapper that learn the kinds of the cluster again.
func learning(known discovery.CachedDiscoveryInterface, mapper meta.RESTMapper) (discovery.DiscoveryInterface, meta.RESTMapper) {
	l := &learner{at: time.Now(), forget: func() { meta.MaybeResetRESTMapper(mapper) }} // and by it the discovery
	return learningDiscovery{known, l}, learningMapper{mapper, l}
}

// again forgets the kinds unless it has done so a moment ago, and reports whether they were forgotten since a time.
func (l *learner) again(since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) >= relearnAfter {
		l.forget()
		l.at = time.Now()
	}
	return l.at.After(since)
}

type learningMapper struct {
	meta.RESTMapper
	*learner
}

// RESTMapping returns the resource of a kind. The client asks for nothing else.
func (m learningMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	asked := time.Now()
	mapping, err := m.RESTMapper.RESTMapping(gk, versions...)
	if meta.IsNoMatchError(err) && m.again(asked) {
		return m.RESTMapper.RESTMapping(gk, versions...)
	}
	return mapping, err
}

type learningDiscovery struct {
	discovery.CachedDiscoveryInterface
	*learner
}

// ServerPreferredResources returns the kinds of the cluster.
func (d learningDiscovery) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	d.again(time.Now())
	return d.CachedDiscoveryInterface.ServerPreferredResources()
}

// Invalidate forgets the kinds, those of the mapper too.
func (d learningDiscovery) Invalidate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	d.at = time.Now()
}
