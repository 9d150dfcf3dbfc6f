package watchcmd

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// screen shows an object as a table that is redrawn in place.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	color bool

	drawn int // lines of the last drawing
	last  string
}

func (s *screen) show(p picture, logs tails) {
	width, height := s.size()
	text := table(p, logs, layout{width: width, height: height - 1, color: s.color})
	if text == s.last {
		return
	}
	s.last = text
	var b bytes.Buffer
	b.WriteString("\x1b[?7l") // a line that is too wide, with wide runes, isn't wrapped: the next drawing counts lines
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn) // up to where the last drawing began
	}
	s.drawn = 0
	for line := range bytes.Lines([]byte(text)) {
		b.WriteString("\r")
		b.WriteString(output.Text(string(bytes.TrimSuffix(line, []byte("\n"))), s.color))
		b.WriteString("\x1b[K\n") // and nothing of an older, longer line
		s.drawn++
	}
	b.WriteString("\x1b[J\x1b[?7h")
	_, _ = s.out.Write(b.Bytes()) // a terminal that is gone is noticed by the signal
}

// terminalSize asks each time, since windows change.
func terminalSize(f *os.File) func() (int, int) {
	return func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 20 || height < 4 {
			return 80, 24
		}
		return width, height
	}
}
