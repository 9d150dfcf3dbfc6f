// Package lasting has Plans that write to what lasts after the pass, and others that write only to what they have made.
package lasting

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/armature-dev/armature/builder"

	"example.com/counters"
)

type owner struct {
	name   string
	labels map[string]string
}

type plan = builder.Plan[*owner]

// Variables of a package.

var (
	count    int
	last     *owner
	state    struct{ names []string }
	previous = map[string]string{}
	entries  = map[string]*entry{}
	fixed    = [3]int{1, 2, 3}
)

type entry struct{ passes int }

func Assigns(o *owner, view builder.View) plan { // want Assigns:"writes last"
	last = o                                 // want `lasting.Assigns isn't pure: it writes last; what a Plan must know later belongs in the owner's status`
	count++                                  // want `writes count`
	count += 2                               // want `writes count`
	state.names = append(state.names, "one") // want `writes state.names`
	previous[o.name] = o.name                // want `writes previous\[o.name\]`
	entries[o.name].passes++                 // want `writes entries\[o.name\].passes`
	delete(previous, o.name)                 // want `writes previous`
	clear(previous)                          // want `writes previous`
	copy(state.names, o.names())             // want `writes state.names`
	copy(fixed[:], []int{1})                 // want `writes fixed\[:\]`
	for _, last = range []*owner{o} {        // want `writes last`
	}
	return plan{}
}

func (o *owner) names() []string { return slices.Sorted(maps.Keys(o.labels)) }

func Aliases(o *owner, view builder.View) plan { // want Aliases:"writes known.o.name."
	known := previous
	known[o.name] = "" // want `writes known\[o.name\]`
	if e, ok := entries[o.name]; ok {
		e.passes = 1 // want `writes e.passes`
	}
	for _, e := range entries {
		e.passes = 2 // want `writes e.passes`
	}
	number := &count
	*number = 3 // want `writes \*number`
	return plan{}
}

func Sorts(o *owner, view builder.View) plan { // want Sorts:"writes state.names by sort.Strings"
	sort.Strings(state.names)     // want `writes state.names by sort.Strings`
	slices.Sort(state.names)      // want `writes state.names by slices.Sort`
	maps.Copy(previous, o.labels) // want `writes previous by maps.Copy`
	_ = sort.StringsAreSorted(state.names)
	_ = slices.Sorted(slices.Values(state.names))
	_ = maps.Clone(previous)
	return plan{}
}

// Helpers: a write in the package is reported where it is, another one where it is called.

func Calls(o *owner, view builder.View) plan { // want Calls:"writes counters.Default by"
	note(o)
	_ = counters.Next()                 // want `calls counters.Next, which writes total`
	counters.Default.See(o.name)        // want `writes counters.Default by \(\*counters.Counter\).See, which writes c.seen\[name\]`
	counters.See(&counters.Default, "") // want `writes &counters.Default by counters.See, which calls \(\*counters.Counter\).See`
	_ = counters.Default.Seen(o.name)
	remember(previous, o)       // want `writes previous by lasting.remember, which writes m\[o.name\]`
	each(previous, seen.Insert) // want `writes seen by \(sets.Set\[T\]\).Insert`
	return plan{}
}

func note(o *owner) { last = o } // want note:"writes last" `lasting.Calls isn't pure: it writes last`

func remember(m map[string]string, o *owner) { m[o.name] = "" } // want remember:"writes m.o.name."

func each(m map[string]string, f func(...string) sets.Set[string]) {
	for k := range m {
		f(k)
	}
}

// Types that are made for what lasts.

var (
	cached  sync.Map
	passes  atomic.Int64
	number  int64
	mu      sync.Mutex
	seen    = sets.New[string]()
	current atomic.Pointer[owner]
	buffers sync.Pool
)

func Types(o *owner, view builder.View) plan { // want Types:"writes cached by"
	cached.Store(o.name, o)           // want `writes cached by \(\*sync.Map\).Store`
	_, _ = cached.LoadOrStore("", "") // want `writes cached by \(\*sync.Map\).LoadOrStore`
	_, _ = cached.Load("")
	passes.Add(1) // want `writes passes by \(\*atomic.Int64\).Add`
	_ = passes.Load()
	atomic.AddInt64(&number, 1) // want `writes &number by atomic.AddInt64`
	_ = atomic.LoadInt64(&number)
	current.Store(o) // want `writes current by .*.Store`
	mu.Lock()        // want `writes mu by \(\*sync.Mutex\).Lock`
	mu.Unlock()
	if !seen.Has(o.name) {
		seen.Insert(o.name) // want `writes seen by \(sets.Set\[T\]\).Insert`
	}
	b := buffers.Get().(*strings.Builder)
	defer buffers.Put(b)
	b.Reset()
	return plan{}
}

type store interface{ put(name string) }

type memory struct{ names map[string]bool }

func (m memory) put(name string) { m.names[name] = true } // want put:"writes m.names.name."

type wrapped struct{ store }

var shared store = wrapped{memory{}}

func Interface(o *owner, view builder.View) plan { // want Interface:"writes shared by"
	shared.put(o.name) // want `writes shared by \(lasting.memory\).put, which writes m.names\[name\]`
	return plan{}
}

// The receiver of a Plan.

type planner struct {
	cache  map[string]string
	passes int
	once   sync.Once
	table  map[string]string
	mu     sync.Mutex
}

func Setup() func(*owner, builder.View) plan { // want Setup:"calls ..lasting.planner..Plan, which writes p.passes"
	p := &planner{cache: map[string]string{}}
	p.passes = 1
	return p.Plan
}

func (p *planner) Plan(o *owner, view builder.View) plan { // want Plan:"writes p.passes" Plan:"writes p.passes"
	p.passes++               // want `\(\*lasting.planner\).Plan isn't pure: it writes p.passes`
	p.cache[o.name] = o.name // want `writes p.cache\[o.name\]`
	p.keep(o)                // want `writes p by \(\*lasting.planner\).keep, which calls \(\*lasting.planner\).set, which writes p.cache\[name\]`
	p.mu.Lock()              // want `writes p.mu by \(\*sync.Mutex\).Lock`
	p.load()
	cache := p.cache
	if cache == nil {
		cache = map[string]string{}
	}
	cache[o.name] = ""
	return plan{}
}

func (p *planner) keep(o *owner) { p.set(o.name) } // want keep:"calls ..lasting.planner..set, which writes p.cache.name."

func (p *planner) set(name string) { p.cache[name] = name } // want set:"writes p.cache.name."

func (p *planner) load() {
	p.once.Do(func() { p.table = map[string]string{} })
}

type values struct {
	cache map[string]string
	count int
}

var Values = values{}.Plan // want Values:"writes v.cache.o.name."

func (v values) Plan(o *owner, view builder.View) plan { // want Plan:"writes v.cache.o.name." Plan:"writes v.cache.o.name."
	v.count++                // a copy
	v.cache[o.name] = o.name // want `writes v.cache\[o.name\]`
	return plan{}
}

// What a Plan's literal captures.

func Captured() func(*owner, builder.View) plan {
	n, cache := 0, map[string]string{}
	c := &counters.Counter{}
	n++
	return func(o *owner, view builder.View) plan {
		n++                // want `the function literal in line \d+ isn't pure: it writes n`
		cache[o.name] = "" // want `writes cache\[o.name\]`
		c.See(o.name)      // want `writes c by \(\*counters.Counter\).See`
		local := n
		local++
		func() { local++ }()
		return plan{}
	}
}

// Constants.

var (
	table    map[string]string
	once     sync.Once
	computed = sync.OnceValue(func() map[string]string {
		count++
		return previous
	})
	byName   = sync.OnceValue(compute)
	registry = counters.Registry()
	ordered  = order()
	first    *owner
)

func init() { // want init:"writes count"
	count = 1
	previous["a"] = "b"
}

func compute() int { // want compute:"writes count"
	count++
	return count
}

func order() []string { // want order:"writes count"
	count++
	return nil
}

func load() { table = map[string]string{} } // want load:"writes table"

func Constants(o *owner, view builder.View) plan {
	_, _, _, _, _ = computed(), byName(), registry, ordered, previous[o.name]
	once.Do(load)
	once.Do(func() { table = map[string]string{"a": "b"} })
	return plan{Message: table["a"]}
}

func OfThePass(o *owner, view builder.View) plan { // want OfThePass:"writes first"
	once.Do(func() { first = o }) // want `writes first`
	var mine sync.Once
	mine.Do(func() { table = nil }) // want `writes table`
	_ = sync.OnceValue(func() int {
		count++ // want `writes count`
		return count
	})
	return plan{}
}

// What the pass makes, and what it is given.

type observed struct {
	names []string
	sizes map[string]int
	part  *entry
}

func (ob *observed) add(name string) { // want add:"writes ob.names"
	ob.names = append(ob.names, name)
	ob.sizes[name]++
}

func (ob *observed) decide(o *owner, view builder.View) (p plan) { // want decide:"writes ob.names"
	ob.names = nil
	p.Message = o.name
	return p
}

func complete(p *plan, o *owner) { p.Message = o.name } // want complete:"writes p.Message"

func copyOf(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	labels["a"] = "b"
	return labels
}

func Local(o *owner, view builder.View) (p plan) {
	ob := &observed{sizes: map[string]int{}, part: &entry{}}
	ob.add(o.name)
	ob.part.passes++
	other := observed{sizes: map[string]int{}}
	other.add(o.name)
	names := sets.New[string]()
	names.Insert(o.name)
	complete(&p, o)
	_ = copyOf(previous)
	_ = copyOf(o.labels)
	old := state
	old.names = nil
	numbers := fixed
	numbers[0] = 2
	list := slices.Clone(state.names)
	list[0] = o.name
	sort.Strings(list)
	labels := previous
	labels = maps.Clone(labels)
	labels["a"] = "b"
	var lock sync.Mutex
	lock.Lock()
	var n atomic.Int64
	n.Add(1)
	return ob.decide(o, view)
}

func Nested(o *owner, view builder.View) plan {
	n := 0
	part := func(o *owner, view builder.View) plan {
		n++
		return plan{}
	}
	return part(o, view)
}

func Excused(o *owner, view builder.View) plan {
	cached.Store(o.name, o) //purity:ignore only a time is saved
	return plan{}
}
