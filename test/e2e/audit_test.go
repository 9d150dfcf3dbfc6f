//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog is what the API server has written down of a namespace, as far as it was read. A file is told from others by os.SameFile:
// when it is large it gets another name, and the API server begins a new one.
type auditLog struct {
	namespace string
	files     []*auditFile
	events    []*auditv1.Event
}

type auditFile struct {
	info os.FileInfo
	read int64
}

// requestsIn are those that would change something in a namespace, whatever came of them, in the order of the log.
func (s *space) requestsIn(namespace string) []*auditv1.Event {
	s.Helper()
	i := slices.IndexFunc(s.audits, func(l *auditLog) bool { return l.namespace == namespace })
	if i < 0 {
		i = len(s.audits)
		s.audits = append(s.audits, &auditLog{namespace: namespace})
	}
	l := s.audits[i]
	for names := []string(nil); ; {
		now := auditFiles(s)
		if slices.Equal(now, names) { // none has got another name meanwhile, and so all were read
			return l.events
		}
		names = now
		for _, name := range names {
			l.readOn(s, name)
		}
	}
}

// auditFiles are the names of the log's files in the order of time. The last has none in it.
func auditFiles(s *space) []string {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("E2E_CLUSTER"), "logs", "audit*.log"))
	require.NoError(s, err)
	require.NotEmpty(s, files, "there is no audit log")
	slices.SortFunc(files, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ".log")+"~", strings.TrimSuffix(b, ".log")+"~")
	})
	return files
}

// readOn reads what has been added to a file.
func (l *auditLog) readOn(s *space, name string) {
	s.Helper()
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return // it has another name now
	}
	require.NoError(s, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(s, err)
	i := slices.IndexFunc(l.files, func(known *auditFile) bool { return os.SameFile(known.info, info) })
	if i < 0 {
		i = len(l.files)
		l.files = append(l.files, &auditFile{info: info})
	}
	file := l.files[i]
	_, err = f.Seek(file.read, io.SeekStart)
	require.NoError(s, err)
	for lines := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil { // the last line may be half written
			return
		}
		file.read += int64(len(line))
		l.add(s, line)
	}
}

// add takes an entry if it is of the namespace.
func (l *auditLog) add(s *space, line []byte) {
	s.Helper()
	if !bytes.Contains(line, []byte(`"namespace":"`+l.namespace+`"`)) {
		return
	}
	event := &auditv1.Event{}
	err := json.Unmarshal(line, event)
	// What an API server wrote as it was killed can be half an entry, and the next one has gone on in the same line.
	if whole := bytes.LastIndex(line, []byte(`{"kind":"Event","apiVersion":"audit`)); err != nil && whole > 0 {
		event = &auditv1.Event{}
		err = json.Unmarshal(line[whole:], event)
	}
	require.NoError(s, err, string(line))
	if event.ObjectRef != nil && event.ObjectRef.Namespace == l.namespace {
		l.events = append(l.events, event)
	}
}

// podOf is the pod that the token of a request belongs to, if it does.
func podOf(event *auditv1.Event) string {
	if pod := event.User.Extra["authentication.kubernetes.io/pod-name"]; len(pod) > 0 {
		return pod[0]
	}
	return ""
}

// resourceOf is such as "jobs.batch" or "pods/status".
func resourceOf(ref *auditv1.ObjectReference) string {
	name := ref.Resource
	if ref.APIGroup != "" {
		name += "." + ref.APIGroup
	}
	if ref.Subresource != "" {
		name += "/" + ref.Subresource
	}
	return name
}
