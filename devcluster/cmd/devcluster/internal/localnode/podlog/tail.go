package podlog

import (
	"bytes"
	"context"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
)

// tailOffset is where the last n records of the file start. It reads backwards,
// so the end of a large log is found without reading all of it.
func tailOffset(file io.ReadSeeker, n int64) (int64, error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || n <= 0 {
		return end, err
	}
	const block = 8 * 1024
	buf := make([]byte, block)
	newlines := int64(0)
	for at := end; at > 0; {
		size := min(at, block)
		at -= size
		if _, err := file.Seek(at, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(file, buf[:size]); err != nil {
			return 0, err
		}
		for i := size - 1; i >= 0; i-- {
			// The newline that ends the file ends the last record: n records
			// are preceded by the n+1st newline from the end.
			if buf[i] == '\n' {
				if newlines++; newlines > n {
					return at + i + 1, nil
				}
			}
		}
	}
	return 0, nil
}

// Last returns the end of the log at path: at most the given lines and bytes.
func Last(path string, lines, limit int64) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	var out bytes.Buffer
	if err := Read(context.Background(), &out, path, nil, &corev1.PodLogOptions{TailLines: &lines}); err != nil {
		return ""
	}
	text := out.Bytes()
	if over := int64(len(text)) - limit; over > 0 {
		text = text[over:]
	}
	return string(text)
}
