package managercmd

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logTo makes a handler that of all packages' logs.
func logTo(h slog.Handler) logr.Logger {
	logger := logr.FromSlogHandler(h)
	ctrl.SetLogger(logger)
	klog.SetSlogLogger(slog.New(h))
	slog.SetDefault(slog.New(h))
	log.SetOutput(packageLog{slog.New(h)})
	return logger
}

// packageLog is where package log writes to. There net/http reports clients: those whose handshakes fail, for example. Anyone who reaches
// a port can cause such lines, each with a port of its own. With the text in an attribute they are lines of one sort, of which few are
// logged.
type packageLog struct{ *slog.Logger }

func (l packageLog) Write(line []byte) (int, error) {
	l.Warn("a server reports a problem with a client", "line", string(bytes.TrimSpace(line)))
	return len(line), nil
}

// logHandler returns where the manager logs to.
func logHandler(w io.Writer, format, level string) (slog.Handler, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level must be debug, info, warn or error, got %q", level)
	}
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: plain}
	switch format {
	case "text":
		return slog.NewTextHandler(w, opts), nil
	case "json":
		return slog.NewJSONHandler(w, opts), nil
	default:
		return nil, fmt.Errorf("--log-format must be text or json, got %q", format)
	}
}

// plain leaves the four levels that --log-level knows, where logr has one for each of its verbosities, and of an error its words,
// where some carry a stack.
func plain(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case slog.Level:
		return slog.Any(a.Key, levelOf(v))
	case error:
		return slog.String(a.Key, v.Error())
	default:
		return a
	}
}

func levelOf(l slog.Level) slog.Level {
	for _, known := range []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo} {
		if l >= known {
			return known
		}
	}
	return slog.LevelDebug
}
