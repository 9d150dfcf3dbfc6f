package analyzer

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const builderPath = "github.com/armature-dev/armature/builder"

const (
	adviceClock      = "a Plan gets the time from View.Now"
	adviceZone       = "time zones are the machine's; View.Now is in UTC"
	adviceRandom     = "derive the value from the owner: its UID, name or generation"
	adviceOutside    = "declare what the Plan needs as a source of the operator, and read it from the View"
	adviceConcurrent = "a Plan is one computation, in one order"
	adviceOrder      = "sort first: Go ranges over a map in another order each time"
)

// engine tells whether a package makes Views and carries Plans out.
func engine(path string) bool { return path == builderPath || strings.HasPrefix(path, builderPath+"/") }

// ours tells whether a module is the one that is looked at: others have a version. Tests of the analyzer have none.
func ours(m *analysis.Module) bool { return m == nil || m.Version == "" }

// standard tells whether a package is of the standard library: the first part of its path isn't a domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != "command-line-arguments" && knownStandard[first]
}

// knownStandard has the first parts of the standard library's paths. A test package or a module of a workspace may be without a domain.
var knownStandard = set("archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed",
	"encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math",
	"mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync",
	"syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak")

// trusted tells whether a package only logs, measures or checks itself: what it reads never comes back.
func trusted(path string) bool {
	for _, prefix := range []string{
		"k8s.io/klog", "k8s.io/utils/trace", "k8s.io/apimachinery/pkg/util/runtime", "github.com/go-logr/", "go.uber.org/zap",
		"go.opentelemetry.io/", "github.com/prometheus/", "google.golang.org/protobuf", "github.com/google/gnostic",
		"golang.org/x/sys", "golang.org/x/net",
	} {
		if path == prefix || strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// source tells what isn't pure by its name, and what to do instead. In other modules (own is false) what prints or looks at the
// process doesn't count: it is there to debug them.
func source(f *types.Func, own bool) (advice string, ok bool) {
	if f.Pkg() == nil {
		return "", false
	}
	if !own && forDebugging[f.Pkg().Path()] {
		return "", false
	}
	path, name := f.Pkg().Path(), f.Name()
	method := f.Signature().Recv() != nil
	if strings.HasPrefix(path, "k8s.io/client-go/kubernetes/typed/") && method && requests[name] {
		return adviceOutside, true
	}
	switch path {
	case "time":
		if !method && clock[name] {
			return adviceClock, true
		}
		if own && (method && name == "Local" || !method && name == "LoadLocation") {
			return adviceZone, true
		}
	case "math/rand", "math/rand/v2":
		// A generator with a seed of its own is pure.
		if !method && !strings.HasPrefix(name, "New") {
			return adviceRandom, true
		}
	case "crypto/rand", "github.com/google/uuid", "k8s.io/apimachinery/pkg/util/uuid":
		if !method && !pureOfUUID[name] {
			return adviceRandom, true
		}
	case "k8s.io/apimachinery/pkg/util/rand":
		if name != "SafeEncodeString" {
			return adviceRandom, true
		}
	case "os":
		if !pureOfOS[name] && !errorMethod(f) {
			return adviceOutside, true
		}
	case "net":
		if hasPrefix(name, "Dial", "Listen", "Lookup", "Interface", "File", "Read", "Write") {
			return adviceOutside, true
		}
	case "net/http":
		if (!method && hasPrefix(name, "Get", "Head", "Post", "ListenAndServe", "Serve")) || (method && isRequest(f)) {
			return adviceOutside, true
		}
	case "crypto/tls":
		if hasPrefix(name, "Dial", "Listen") {
			return adviceOutside, true
		}
	case "hash/maphash":
		if name == "MakeSeed" || method && (name == "Sum64" || name == "Seed") {
			return adviceRandom, true
		}
	case "sync":
		if own && method && name == "Go" {
			return adviceConcurrent, true
		}
	case "golang.org/x/sync/errgroup":
		if own && method {
			return adviceConcurrent, true
		}
	case "path/filepath":
		if hasPrefix(name, "Abs", "Glob", "Walk", "EvalSymlinks") {
			return adviceOutside, true
		}
	case "fmt":
		if hasPrefix(name, "Print", "Scan") {
			return adviceOutside, true
		}
	case "log", "log/slog":
		if !method && hasPrefix(name, "Print", "Fatal", "Panic", "Debug", "Info", "Warn", "Error", "Log") {
			return adviceOutside, true
		}
	case "runtime":
		if hasPrefix(name, "Num", "ReadMem", "GOMAXPROCS", "Stack", "Caller", "Gosched", "GC") {
			return adviceOutside, true
		}
	case "os/exec", "os/user", "os/signal", "database/sql", "io/ioutil":
		return adviceOutside, true
	case "syscall":
		if !errorMethod(f) {
			return adviceOutside, true
		}
	case "k8s.io/client-go/dynamic":
		if method && requests[name] {
			return adviceOutside, true
		}
	case "sigs.k8s.io/controller-runtime/pkg/client":
		if method && requests[name] && !named(f.Signature().Recv().Type(), path, "ObjectKey") {
			return adviceOutside, true
		}
	}
	return "", false
}

var forDebugging = set("fmt", "log", "log/slog", "runtime")

var (
	clock = set("Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker")
	// What parses and formats identifiers, or makes them of what it is given.
	pureOfUUID = set("Parse", "ParseBytes", "MustParse", "Must", "Validate", "FromBytes", "NewMD5", "NewSHA1", "NewHash",
		"IsInvalidLengthError")
	variablesOfOS = set("Args", "Stdin", "Stdout", "Stderr")
	pureOfOS      = set("IsNotExist", "IsExist", "IsPermission", "IsTimeout", "IsPathSeparator", "Expand", "NewSyscallError")
	requests      = set("Get", "List", "Watch", "Create", "Update", "Patch", "Apply", "Delete", "DeleteAllOf")
)

// isGenerator tells whether a type is a generator of random numbers. Its numbers are a function of its seed and of the calls so far.
func isGenerator(t types.Type) bool {
	return named(t, "math/rand", "Rand") || named(t, "math/rand/v2", "Rand")
}

// isRequest tells whether a method of net/http makes a request: those of Header have the same names.
func isRequest(f *types.Func) bool {
	recv := f.Signature().Recv().Type()
	return named(recv, "net/http", "Client") && hasPrefix(f.Name(), "Do", "Get", "Head", "Post") || f.Name() == "RoundTrip"
}

// errorMethod tells whether f belongs to an error or a mode: these only say what they hold.
func errorMethod(f *types.Func) bool {
	switch f.Name() {
	case "Error", "Unwrap", "Is", "Timeout", "Temporary", "String":
		return f.Signature().Recv() != nil
	}
	return false
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}
