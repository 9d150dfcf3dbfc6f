package managercmd

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// linesAtOnce is how many warnings and errors of a sort are logged
	linesAtOnce = 10
	// linesWindow in this time from the first one on. At its end one line says how many were left out.
	linesWindow = time.Minute
	// maxLineSorts bounds the number of sorts that are distinguished at a time; the others count as one.
	maxLineSorts = 1000
)

// lineSort is what lines have in common that say the same of many objects. Namespaces are kept apart, so that what goes wrong in
// one isn't hidden by what a tenant does in another.
type lineSort struct {
	controller, namespace, message string
	reason                         string // the API server's, empty for other errors
}

// lineLimit is a slog.Handler that bounds the warnings and errors of each sort. All else it passes on.
type lineLimit struct {
	slog.Handler
	of     lineSort // as far as the logger's own attributes say
	groups bool     // further attributes are of a group
	counts *lineCounts
}

// lineCounts are the lines of the current windows.
type lineCounts struct {
	to slog.Handler

	mu    sync.Mutex
	lines map[lineSort]*lineCount
}

type lineCount struct {
	level   slog.Level
	lines   int
	closing *time.Timer
}

func limitLines(h slog.Handler) *lineLimit {
	return &lineLimit{Handler: h, counts: &lineCounts{to: h, lines: map[lineSort]*lineCount{}}}
}

func (l *lineLimit) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *l
	with.Handler = l.Handler.WithAttrs(attrs)
	for _, a := range attrs {
		with.of.note(a, l.groups)
	}
	return &with
}

func (l *lineLimit) WithGroup(name string) slog.Handler {
	with := *l
	with.Handler, with.groups = l.Handler.WithGroup(name), true
	return &with
}

func (l *lineLimit) Handle(ctx context.Context, r slog.Record) error {
	if isRelease(r) {
		r.Level = slog.LevelDebug
		if !l.Enabled(ctx, r.Level) {
			return nil
		}
	}
	if r.Level < slog.LevelWarn {
		return l.Handler.Handle(ctx, r)
	}
	of := l.of
	of.message = r.Message
	r.Attrs(func(a slog.Attr) bool {
		of.note(a, l.groups)
		return true
	})
	if !l.counts.take(of, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// isRelease reports whether a record is the error that controller-runtime logs whenever a manager that stops releases its lease. Nobody
// has lost it then. A lease that is lost ends the manager, with the error as its reason.
func isRelease(r slog.Record) bool {
	is := false
	if r.Message == "error received after stop sequence was engaged" {
		r.Attrs(func(a slog.Attr) bool {
			err, isError := a.Value.Any().(error)
			is = isError && err.Error() == "leader election lost"
			return !is
		})
	}
	return is
}

// note adds an attribute that distinguishes sorts.
func (s *lineSort) note(a slog.Attr, grouped bool) {
	switch v := a.Value.Any().(type) {
	case error:
		s.reason = string(apierrors.ReasonForError(v))
	case string:
		switch {
		case grouped:
		case a.Key == "controller":
			s.controller = v
		case a.Key == "namespace":
			s.namespace = v
		}
	}
}

// take reports whether one more line of a sort is logged.
func (c *lineCounts) take(of lineSort, level slog.Level) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := c.lines[of]
	if count == nil && len(c.lines) >= maxLineSorts {
		of = lineSort{}
		count = c.lines[of]
	}
	if count == nil {
		count = &lineCount{level: level}
		count.closing = time.AfterFunc(linesWindow, func() { c.close(of) })
		c.lines[of] = count
	}
	count.lines++
	return count.lines <= linesAtOnce
}

// close ends a window, and says how many lines it has left out.
func (c *lineCounts) close(of lineSort) {
	c.mu.Lock()
	count := c.lines[of]
	delete(c.lines, of)
	c.mu.Unlock()
	if count == nil || count.lines <= linesAtOnce {
		return
	}
	r := slog.NewRecord(time.Now(), count.level, "more lines of this sort were left out", 0)
	r.AddAttrs(slog.Int("lines", count.lines-linesAtOnce), slog.String("message", of.message), slog.String("reason", of.reason),
		slog.String("controller", of.controller), slog.String("namespace", of.namespace))
	_ = c.to.Handle(context.Background(), r) // there is nowhere to say that a log can't be written
}

// flush ends all windows.
func (l *lineLimit) flush() {
	l.counts.mu.Lock()
	var open []lineSort
	for of, count := range l.counts.lines {
		count.closing.Stop()
		open = append(open, of)
	}
	l.counts.mu.Unlock()
	for _, of := range open {
		l.counts.close(of)
	}
}
