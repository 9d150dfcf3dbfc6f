package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// log is a file with an entry in each line. A nil log keeps nothing.
type log struct {
	file *os.File
	size int64 // of the whole lines
}

// entry is a line of the log.
type entry struct {
	Key string `json:"key"`
	value
}

// openLog opens a log, and creates it if it doesn't exist. It passes each entry to read.
func openLog(path string, read func(entry)) (*log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	l := &log{file: file}
	lines := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // a crash may have cut the last line off
			return l, file.Truncate(l.size)
		}
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		read(e)
		l.size += int64(len(line))
	}
}

// append writes an entry at the end of the whole lines. It overwrites what a failed write has left there, which has no line break.
func (l *log) append(e entry) error {
	if l == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	n, err := l.file.WriteAt(append(line, '\n'), l.size)
	if err == nil {
		l.size += int64(n)
	}
	return err
}
