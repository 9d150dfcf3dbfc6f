package analyzer

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// writes is the fact that a function of the module writes to what its parameters point to: by parameter, how.
type writes struct{ Ways map[int]string }

func (*writes) AFact() {}

func (w *writes) String() string {
	var all []string
	for _, i := range slices.Sorted(maps.Keys(w.Ways)) {
		all = append(all, w.Ways[i])
	}
	return strings.Join(all, ", ")
}

// throughParam is a site of a function whose place is behind a parameter.
type throughParam struct {
	f     *types.Func
	param int
	site
}

// readWrites finds what each function of the package writes to by its parameters.
func (r reader) readWrites() {
	var all []throughParam
	for _, file := range r.Files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil && !r.isTest(file) {
				if f, ok := r.TypesInfo.Defs[d.Name].(*types.Func); ok {
					all = append(all, r.throughParams(f, d.Body)...)
				}
			}
		}
	}
	for more := true; more; { // until no further function writes to a parameter because of one that it calls
		more = false
		for _, s := range all {
			if r.ways[s.f][s.param] != "" {
				continue
			}
			way, ok := r.wayOf(s.site)
			if !ok {
				continue
			}
			if s.by != nil {
				way = "calls " + way
			}
			if r.ways[s.f] == nil {
				r.ways[s.f] = map[int]string{}
			}
			r.ways[s.f][s.param], more = way, true
		}
	}
}

func (r reader) throughParams(f *types.Func, block ast.Node) []throughParam {
	var all []throughParam
	for _, s := range r.sites(block) {
		if s.once {
			continue
		}
		for _, from := range r.origins(s.place, s.derefs) {
			if i, ok := r.paramOf(f, from.v); ok && from.derefs > 0 && !r.replaced(from.v) {
				all = append(all, throughParam{f, i, s})
			}
		}
	}
	return all
}

// paramOf returns the number of a parameter or receiver of a function.
func (r reader) paramOf(f *types.Func, v *types.Var) (i int, ok bool) {
	if r.params[v] != f {
		return 0, false
	}
	if f.Signature().Recv() == v {
		return receiver, true
	}
	for i := range f.Signature().Params().Len() {
		if f.Signature().Params().At(i) == v {
			return i, true
		}
	}
	return 0, false
}

// paramsOfFunctions returns the functions of the package by their parameters and receivers.
func (r reader) paramsOfFunctions() map[*types.Var]*types.Func {
	all := map[*types.Var]*types.Func{}
	for _, file := range r.Files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if f, ok := r.TypesInfo.Defs[d.Name].(*types.Func); ok {
				if recv := f.Signature().Recv(); recv != nil {
					all[recv] = f
				}
				for p := range f.Signature().Params().Variables() {
					all[p] = f
				}
			}
		}
	}
	return all
}

// wayOf returns how a site writes its place, if it does.
func (r reader) wayOf(s site) (way string, ok bool) {
	if s.by == nil {
		return "writes " + types.ExprString(s.place), true
	}
	return r.writtenBy(s.by, s.param)
}

// lastingWrites returns what a block writes that lasts after the pass.
func (r reader) lastingWrites(block ast.Node, of lasts) []cause {
	var all []cause
	for _, s := range r.sites(block) {
		way, ok := r.wayOf(s)
		if !ok || s.once || !r.lasting(s, of) {
			continue
		}
		if s.by != nil {
			way = "writes " + types.ExprString(s.place) + " by " + way
		}
		all = append(all, cause{pos: s.pos, way: way, advice: adviceLasting, lasting: true})
	}
	return all
}

// writtenBy tells whether a function writes to what a parameter points to, and how: "(*p.cache).put, which writes c.size".
func (r reader) writtenBy(f *types.Func, param int) (way string, ok bool) {
	if f.Pkg() == nil || trusted(f.Pkg().Path()) {
		return "", false
	}
	if !r.isOfModule(f.Pkg().Path()) {
		return nameOf(f), writesByName(f, param)
	}
	if param == receiver && isMethodOfInterface(f) {
		for _, method := range r.implementations(f) {
			if way, ok := r.writtenBy(method, param); ok {
				return way, true
			}
		}
		return "", false
	}
	ways := r.ways[f]
	if f.Pkg() != r.Pkg {
		var fact writes
		r.ImportObjectFact(f, &fact)
		ways = fact.Ways
	}
	return nameOf(f) + ", which " + ways[param], ways[param] != ""
}

// writesByName tells whether a function of another module writes to what a parameter points to. Nobody reads its body: of methods the name
// decides, and functions of the standard library are known.
func writesByName(f *types.Func, param int) bool {
	path, name := f.Pkg().Path(), f.Name()
	if recv := f.Signature().Recv(); recv != nil {
		switch {
		case param != receiver, named(recv.Type(), "sync", "Pool"):
			return false
		case path == "sync/atomic":
			return name != "Load"
		case path == "sync":
			return methodsOfSync[name]
		}
		_, isMap := recv.Type().Underlying().(*types.Map)
		return (isPointer(recv.Type()) || isMap) && verbs[firstWord(name)]
	}
	if param != 0 {
		return false
	}
	switch path {
	case "sync/atomic":
		return !strings.HasPrefix(name, "Load")
	case "maps":
		return name == "Copy" || name == "Insert" || name == "DeleteFunc"
	case "slices":
		return hasPrefix(name, "Sort", "Delete", "Compact", "Replace", "Reverse") && !strings.HasPrefix(name, "Sorted")
	case "sort":
		return hasPrefix(name, "Sort", "Stable", "Slice", "Strings", "Ints", "Float64s") && !strings.HasSuffix(name, "Sorted")
	}
	return false
}

var (
	methodsOfSync = set("Lock", "TryLock", "RLock", "TryRLock", "Store", "LoadOrStore", "LoadAndDelete", "Delete", "Swap", "CompareAndSwap",
		"CompareAndDelete", "Clear")
	verbs = set("Add", "Append", "Clear", "Decrement", "Del", "Delete", "Inc", "Increment", "Init", "Insert", "Move", "Pop", "Push", "Put",
		"Remove", "Reset", "Set", "Store", "Swap", "Update", "Write")
)

// firstWord returns the first word of an exported name: Push of PushBack.
func firstWord(name string) string {
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			return name[:i]
		}
	}
	return name
}
