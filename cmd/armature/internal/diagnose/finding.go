package diagnose

import "fmt"

// Phase summarises the state of an object in one word.
type Phase string

// The phases. The first two are problems.
const (
	// Failed: it has failed.
	Failed Phase = "Failed"
	// Blocked: it can't run or continue.
	Blocked Phase = "Blocked"
	// Waiting: it waits in a queue without a problem.
	Waiting Phase = "Waiting"
	// Starting: it doesn't run yet, without a problem so far.
	Starting Phase = "Starting"
	// Running: it runs.
	Running Phase = "Running"
	// Succeeded: it has succeeded.
	Succeeded Phase = "Succeeded"
)

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func (r Ref) String() string { return r.Kind + "/" + r.Name }

// Step is an object on the path from the requested object to the one with the problem.
type Step struct {
	Ref `json:",inline"`
	// State is the state in the object's own status, in a few words.
	State string `json:"state,omitempty"`
}

// Finding is the first problem of an object, or the result that it has none.
type Finding struct {
	// Phase is that of the requested object.
	Phase Phase `json:"phase"`
	// Reason is the cause of the problem or of the wait in one word, for scripts. Empty if there is neither.
	Reason string `json:"reason,omitempty"`
	// Object is the object that the message describes.
	Object Ref `json:"object"`
	// Message describes the problem of the object in one sentence, without its name.
	Message string `json:"message"`
	// Next is the next step.
	Next string `json:"next,omitempty"`
	// Path leads from the requested object to Object.
	Path []Step `json:"path"`
	// Others is the number of other objects below with a problem.
	Others int `json:"others,omitempty"`
}

// Wrong reports whether there is a problem.
func (f *Finding) Wrong() bool { return f.Phase == Failed || f.Phase == Blocked }

// failed returns the finding about a failed object.
func failed(reason, message string) *Finding {
	return &Finding{Phase: Failed, Reason: reason, Message: message}
}

// blocked returns the finding about an object that can't run or continue.
func blocked(reason, format string, args ...any) *Finding {
	return &Finding{Phase: Blocked, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// waitsFor returns the finding about an object that waits in a queue without a problem.
func waitsFor(reason, format string, args ...any) *Finding {
	return &Finding{Phase: Waiting, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// severity orders findings: a failure before other problems, and those before a wait.
func (f *Finding) severity() int {
	switch f.Phase {
	case Failed:
		return 2
	case Blocked:
		return 1
	default:
		return 0
	}
}

// problems counts the objects with a problem.
func (f *Finding) problems() int {
	if !f.Wrong() {
		return 0
	}
	return 1 + f.Others
}

// do sets the next step.
func (f *Finding) do(format string, args ...any) *Finding {
	f.Next = fmt.Sprintf(format, args...)
	return f
}
