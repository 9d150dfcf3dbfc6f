package podlog

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// maxLine is where a line without an end is stored as a part.
const maxLine = 16 * 1024

const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// Log is a log file that is being written.
type Log struct {
	file *os.File
	now  func() time.Time

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when there is more to read
	closed  bool
}

// Create makes an empty log file.
func Create(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{file: file, now: time.Now, changed: make(chan struct{})}, nil
}

// Copy stores what it reads until the end, and then closes the log. It goes on
// reading when storing fails (a full disk): the container must not be blocked.
func (l *Log) Copy(r io.Reader) {
	defer l.close()
	var pending []byte
	chunk := make([]byte, 32*1024)
	for {
		n, err := r.Read(chunk)
		if n > 0 {
			pending = l.store(append(pending, chunk[:n]...))
		}
		if err != nil {
			if len(pending) > 0 {
				l.write(l.record(nil, pending, 'P'))
			}
			return
		}
	}
}

// store writes the complete lines, and over-long incomplete ones, and returns
// the rest.
func (l *Log) store(data []byte) []byte {
	var out []byte
	for {
		end := bytes.IndexByte(data, '\n')
		switch {
		case end >= 0 && end <= maxLine:
			out = l.record(out, data[:end], 'F')
			data = data[end+1:]
		case len(data) > maxLine:
			out = l.record(out, data[:maxLine], 'P')
			data = data[maxLine:]
		default:
			l.write(out)
			return append([]byte(nil), data...)
		}
	}
}

func (l *Log) record(out, text []byte, tag byte) []byte {
	out = l.now().UTC().AppendFormat(out, timeFormat)
	out = append(out, " stdout "...)
	out = append(out, tag, ' ')
	out = append(out, text...)
	return append(out, '\n')
}

func (l *Log) write(out []byte) {
	if len(out) == 0 {
		return
	}
	_, _ = l.file.Write(out)
	l.mu.Lock()
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
}

func (l *Log) close() {
	l.file.Close()
	l.mu.Lock()
	l.closed = true
	close(l.changed)
	l.mu.Unlock()
}

// state returns whether the log is complete, and a channel closed at the next change.
func (l *Log) state() (closed bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed, l.changed
}
