package uiserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// lists answers the list requests of two pages with as many JobFlows of a spec as are asked for, and those of the namespace "hangs" never.
type lists struct {
	spec   string
	limits chan int
}

func (l lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Get("watch") == "true" || strings.Contains(r.URL.Path, "/hangs/") {
		<-r.Context().Done()
		return
	}
	limit, _ := strconv.Atoi(query.Get("limit"))
	l.limits <- limit
	page, next := query.Get("continue"), ""
	if page == "" {
		next = "2"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlowList", `+
		`"metadata": {"resourceVersion": "7", "continue": %q}, "items": [`, next)
	for i := range limit {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, `{"metadata": {"name": "f%s-%d", "uid": "%[1]s-%[2]d", "resourceVersion": "5"}, "spec": %s}`, page, i, l.spec)
	}
	fmt.Fprint(w, "]}")
}

// client is a viewer's client of a real API server, as far as lists go.
func (l lists) client(t *testing.T) client.WithWatch {
	t.Helper()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion})
	mapper.Add(v1alpha1.GroupVersion.WithKind("JobFlow"), meta.RESTScopeNamespace)
	c, err := client.NewWithWatch(BoundAnswers(&rest.Config{Host: server.URL}), client.Options{Mapper: mapper})
	require.NoError(t, err)
	return c
}

// A tenant's objects can be large, and take many times that once they are read: a list must not read a page of them at once.
func TestAListReadsOneObjectAtATime(t *testing.T) {
	spec := fmt.Sprintf(`{"note": %q, "tolerations": [%s{}]}`, strings.Repeat("x", 80_000), strings.Repeat("{},", 10_000))
	api := lists{spec: spec, limits: make(chan int, 10)}
	c := api.client(t)
	alive := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // no test has that much
	}
	before, most := alive(), int64(0)
	f := newFeed(c, nobody, flowSource("a", ""), func(u *unstructured.Unstructured) string {
		if strings.HasSuffix(u.GetName(), "-20") { // most of the page has been read
			most = max(most, alive())
		}
		tolerations, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "tolerations")
		return fmt.Sprint(u.GetKind(), " ", u.GetName(), " ", len(tolerations.([]any)))
	})
	f.source.fields = ""
	version, err := f.list(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "7", version)
	assert.Equal(t, []int{500, 25, 50}, []int{<-api.limits, <-api.limits, <-api.limits}, "all 500 would be 55 MB of JSON")
	assert.Len(t, f.items, 25+50)
	assert.Equal(t, item[string]{"5", "JobFlow f2-1 10001"}, f.items["2-1"])
	assert.Less(t, most-before, int64(8<<20), "50 objects take 36 MB, and 6 MB of JSON")
}

// Few answers are held at a time, of each viewer one. A request without an answer holds no place.
func TestFewAnswersAreHeld(t *testing.T) {
	c := lists{spec: "{}", limits: make(chan int, 100)}.client(t)
	var mu sync.Mutex
	now, most := map[any]int{}, 0
	begun, end := make(chan string, 100), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var answered, hanging sync.WaitGroup
	list := func(user, namespace string, done *sync.WaitGroup) {
		f := newFeed(c, func() any { return user }, source{gvk: v1alpha1.GroupVersion.WithKind("JobFlow"), namespace: namespace},
			func(u *unstructured.Unstructured) string {
				if u.GetName() == "f-0" { // once in the first page
					mu.Lock()
					now[user]++
					assert.Equal(t, 1, now[user], user)
					most = max(most, len(now))
					mu.Unlock()
					begun <- user
					<-end
					mu.Lock()
					delete(now, user)
					mu.Unlock()
				}
				return ""
			})
		done.Go(func() {
			_, err := f.list(ctx)
			assert.Equal(t, namespace == "hangs", err != nil, "%s %v", namespace, err)
		})
	}
	for _, user := range []string{"alice", "bob", "carol"} {
		list(user, "hangs", &hanging)
	}
	for range 3 {
		list("alice", "a", &answered)
	}
	assert.Equal(t, "alice", <-begun)
	list("bob", "a", &answered)
	assert.Equal(t, "bob", <-begun, "alice's others don't keep him waiting")
	list("carol", "a", &answered)
	for range 5 {
		end <- struct{}{}
	}
	answered.Wait()
	cancel()
	hanging.Wait()
	assert.LessOrEqual(t, most, maxHeld)
	assert.Empty(t, answering.all)
	assert.Empty(t, answering.of)
}

// transport answers requests.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func (t transport) feed(user any, namespace string) *feed[string] {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion})
	mapper.Add(v1alpha1.GroupVersion.WithKind("JobFlow"), meta.RESTScopeNamespace)
	c, err := client.NewWithWatch(BoundAnswers(&rest.Config{Host: "http://api", Transport: t}), client.Options{Mapper: mapper})
	if err != nil {
		panic(err)
	}
	from := source{gvk: v1alpha1.GroupVersion.WithKind("JobFlow"), namespace: namespace}
	return newFeed(c, func() any { return user }, from, (*unstructured.Unstructured).GetName)
}

// never is the transport to an API server that accepts requests and doesn't answer.
func never(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// answered is the transport to an API server that answers lists with a text, and watches never.
func answered(text func(context.Context) io.Reader) transport {
	return func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("watch") != "" {
			return never(r)
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(text(r.Context())),
		}, nil
	}
}

func emptyList(context.Context) io.Reader {
	return strings.NewReader(
		`{"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlowList", "metadata": {"resourceVersion": "7"}, "items": []}`)
}

// refused is the transport to a proxy that answers with an error.
func refused(text func(context.Context) io.Reader) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusBadGateway, Body: io.NopCloser(text(r.Context()))}, nil
	}
}

// A list without a version can't be watched from. It is repeated after a pause.
func TestAListWithoutAVersionIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		sent := 0
		api := answered(func(context.Context) io.Reader {
			if sent++; sent == 100 {
				cancel()
			}
			return strings.NewReader(`{"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlowList", "metadata": {}, "items": []}`)
		})
		f := api.feed(t.Name(), "a")
		f.run(ctx)
		assert.Less(t, sent, 100)
		assert.Equal(t, stateUnreachable, f.state.State)
	})
}

// unanswered is the body of an answer that never comes.
type unanswered struct{ context.Context }

func (u unanswered) Read([]byte) (int, error) {
	<-u.Done()
	return 0, u.Err()
}

// An API server may accept a request and never answer: the page says so, and asks again.
func TestAnAPIServerThatDoesNotAnswerIsUnreachable(t *testing.T) {
	unread := func(ctx context.Context) io.Reader { return unanswered{ctx} }
	for name, api := range map[string]transport{
		"refusal": refused(unread), "list": never, "body": answered(unread), "watch": answered(emptyList),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				f := api.feed(t.Name(), "a")
				f.run(ctx)
				assert.Equal(t, stateUnreachable, f.state.State)
				assert.Contains(t, f.state.Message, "the API server has not answered within 1m10s")
			})
		})
	}
}

// A container may write its first line after any time.
func TestALogMayBeSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api/api/v1/namespaces/a/pods/p/log?follow=true", nil)
		require.NoError(t, err)
		_, err = bounded{transport(never)}.RoundTrip(r) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A watch, and a log, may pause between two parts of its answer. Nothing else may.
func TestOnlyWatchesAndLogsPause(t *testing.T) {
	for query, pauses := range map[string]bool{"?watch=true": true, "?follow=true": true, "?tailLines=1": false, "": false} {
		t.Run(query, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api/api/v1/pods"+query, nil)
				require.NoError(t, err)
				answer, err := bounded{refused(func(ctx context.Context) io.Reader { return unanswered{ctx} })}.RoundTrip(r)
				require.NoError(t, err)
				_, err = io.ReadAll(answer.Body)
				require.NoError(t, answer.Body.Close())
				if pauses {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.ErrorIs(t, err, errSilence)
				}
			})
		})
	}
}

// An answer that waits for its slot has come.
func TestAWaitIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave, err := answering.take(t.Context(), t.Name())
		require.NoError(t, err)
		time.AfterFunc(time.Hour, leave)
		version, err := answered(emptyList).feed(t.Name(), "a").list(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "7", version)
	})
}

// Of each answer that waits for its slot, up to 4 MiB have arrived: a user has few that wait. The others are asked for again.
func TestAUserHasFewWaitingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave, err := answering.take(t.Context(), t.Name())
		require.NoError(t, err)
		var sent, open atomic.Int32
		api := answered(func(ctx context.Context) io.Reader {
			sent.Add(1)
			open.Add(1)
			context.AfterFunc(ctx, func() { open.Add(-1) })
			return emptyList(ctx)
		})
		const all = 50
		var lists sync.WaitGroup
		for i := range all {
			lists.Go(func() {
				_, err := api.feed(t.Name(), fmt.Sprint("a", i)).list(t.Context())
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		assert.Equal(t, int32(maxWaitingOfUser), open.Load())
		assert.Equal(t, int32(all), sent.Load())
		_, err = api.feed(t.Name()+" of another", "b").list(t.Context())
		require.NoError(t, err)
		leave()
		lists.Wait()
		assert.Equal(t, int32(1+all+all-maxWaitingOfUser), sent.Load())
		waiting.mu.Lock()
		defer waiting.mu.Unlock()
		assert.NotContains(t, waiting.of, t.Name())
	})
}

// A kind whose conversion webhook hangs, in many namespaces, doesn't keep the user's other lists waiting.
func TestListsWithoutAnAnswerKeepNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 50 {
			go transport(never).feed(t.Name(), fmt.Sprint("a", i)).run(ctx)
		}
		synctest.Wait()
		began := time.Now()
		_, err := answered(emptyList).feed(t.Name(), "b").list(ctx)
		require.NoError(t, err)
		assert.Zero(t, time.Since(began), "of the bubble's clock")
		cancel()
		synctest.Wait()
	})
}
