package podlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Read writes the log file at path to w as the options ask. With Follow it goes
// on until the log is complete or ctx ends; live is the log being written, nil
// when nobody writes it any more.
func Read(ctx context.Context, w io.Writer, path string, live *Log, opts *corev1.PodLogOptions) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if opts.TailLines != nil {
		start, err := tailOffset(file, *opts.TailLines)
		if err != nil {
			return err
		}
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}

	out := &printer{w: w, timestamps: opts.Timestamps, since: since(opts), left: -1, lineStart: true}
	if opts.LimitBytes != nil {
		out.left = *opts.LimitBytes
	}
	in := bufio.NewReaderSize(file, 64*1024)
	var partial []byte // a record of which the end is not yet written
	for {
		// Asked for before reading: what is written after this is not missed.
		complete, changed := true, (<-chan struct{})(nil)
		if live != nil {
			complete, changed = live.state()
		}
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				partial = append(partial, line...)
				break
			}
			if err := out.print(append(partial, line...)); err != nil {
				if errors.Is(err, errLimit) {
					return nil
				}
				return err
			}
			partial = nil
		}
		if !opts.Follow || complete {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

func since(opts *corev1.PodLogOptions) time.Time {
	switch {
	case opts.SinceTime != nil:
		return opts.SinceTime.Time
	case opts.SinceSeconds != nil:
		return time.Now().Add(-time.Duration(*opts.SinceSeconds) * time.Second)
	}
	return time.Time{}
}

var errLimit = errors.New("byte limit reached")

// printer turns stored records into the text of the container.
type printer struct {
	w          io.Writer
	timestamps bool
	since      time.Time
	left       int64 // bytes that may still be written, negative for no limit
	lineStart  bool
}

func (p *printer) print(record []byte) error {
	fields := bytes.SplitN(record, []byte(" "), 4)
	if len(fields) != 4 {
		return nil // cut off by a full disk
	}
	if !p.since.IsZero() {
		if at, err := time.Parse(time.RFC3339Nano, string(fields[0])); err != nil || at.Before(p.since) {
			return nil
		}
	}
	text := fields[3]
	if p.timestamps && p.lineStart {
		text = append(append(append([]byte(nil), fields[0]...), ' '), text...)
	}
	p.lineStart = fields[2][0] != 'P'
	if !p.lineStart {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	if p.left >= 0 && int64(len(text)) > p.left {
		text = text[:p.left]
	}
	if _, err := p.w.Write(text); err != nil {
		return err
	}
	if p.left >= 0 {
		if p.left -= int64(len(text)); p.left == 0 {
			return errLimit
		}
	}
	return nil
}
