package diagnose

import "fmt"

// Verdict says in one word how an object fares.
type Verdict string

// The verdicts. With the first two there is something wrong.
const (
	// Failed: it has ended, and not well.
	Failed Verdict = "Failed"
	// Blocked: something keeps it from running, or from going on.
	Blocked Verdict = "Blocked"
	// Waiting: it is in a queue, and its turn comes by itself.
	Waiting Verdict = "Waiting"
	// Starting: it doesn't run yet, and nothing is wrong so far.
	Starting Verdict = "Starting"
	// Running: it runs.
	Running Verdict = "Running"
	// Succeeded: it has ended well.
	Succeeded Verdict = "Succeeded"
)

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func (r Ref) String() string { return r.Kind + "/" + r.Name }

// Step is an object on the way from the one that was asked for to the one that is at fault.
type Step struct {
	Ref `json:",inline"`
	// State is how the object itself says it fares.
	State string `json:"state,omitempty"`
}

// Finding is the answer: the first thing that is wrong, or that nothing is.
type Finding struct {
	// Verdict is about the object that was asked for.
	Verdict Verdict `json:"verdict"`
	// Reason is one word for what is wrong, or for what it waits for, for scripts. Empty if it is neither.
	Reason string `json:"reason,omitempty"`
	// Object is what the message is about.
	Object Ref `json:"object"`
	// Message says in one sentence what is wrong with the object, without its name.
	Message string `json:"message"`
	// Next is what to do about it.
	Next string `json:"next,omitempty"`
	// Path leads from the object that was asked for to Object.
	Path []Step `json:"path"`
	// Others is how many other objects below have something wrong as well.
	Others int `json:"others,omitempty"`
}

// Wrong reports whether something is wrong.
func (f *Finding) Wrong() bool { return f.Verdict == Failed || f.Verdict == Blocked }

// failed returns the finding of a rule about something that has ended badly.
func failed(reason, message string) *Finding {
	return &Finding{Verdict: Failed, Reason: reason, Message: message}
}

// blocked returns the finding of a rule about something that is held up.
func blocked(reason, format string, args ...any) *Finding {
	return &Finding{Verdict: Blocked, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// do says what to do next.
func (f *Finding) do(format string, args ...any) *Finding {
	f.Next = fmt.Sprintf(format, args...)
	return f
}
