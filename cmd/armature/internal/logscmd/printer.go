package logscmd

import (
	"hash/fnv"
	"io"
	"sync"
	"time"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// printer writes lines, each as a whole.
type printer struct {
	mu         sync.Mutex
	out        io.Writer
	paint      output.Paint
	timestamps bool
}

// palette are the colours of pods.
var palette = []string{"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"}

func (p *printer) print(e entry) error {
	h := fnv.New32a()
	_, _ = h.Write([]byte(e.from.pod)) // a hash takes everything
	line := p.paint.In(palette[h.Sum32()%uint32(len(palette))], e.from.label+" |") + " "
	if p.timestamps {
		line += e.at.UTC().Format(time.RFC3339Nano) + " "
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.out, line+e.text+"\n")
	return err
}
