package inflight

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func passOver(name string) Pass { return Pass{"jobflow", "default", name, "uid-" + name} }

// machine is a directory and a clock, where processes come and go.
type machine struct {
	t   *testing.T
	dir string
	at  time.Time
}

func newMachine(t *testing.T) *machine {
	return &machine{t, filepath.Join(t.TempDir(), "state"), time.Unix(1000, 0).UTC()}
}

// start is a process that starts. It ends when it is forgotten, as one that is killed does: nothing is written then.
func (m *machine) start() *Record {
	r, err := Open(m.dir, func() time.Time { return m.at })
	require.NoError(m.t, err)
	m.t.Cleanup(func() { _ = r.running.Close() })
	return r
}

func (m *machine) begin(r *Record, name string) *Running {
	m.t.Helper()
	running, hold := r.Begin(passOver(name))
	require.Nil(m.t, hold)
	return &running
}

func (m *machine) held(r *Record, name string) *Hold {
	m.t.Helper()
	_, hold := r.Begin(passOver(name))
	require.NotNil(m.t, hold)
	return hold
}

// The passes that ran when a process was killed are put off in the next one, those that had ended are not.
func TestPassesOfAKilledProcessArePutOff(t *testing.T) {
	m := newMachine(t)
	first := m.start()
	m.begin(first, "ended").End()
	m.begin(first, "bad")
	m.begin(first, "beside")

	second := m.start()
	m.begin(second, "ended").End()
	assert.Equal(t, &Hold{Until: m.at.Add(firstDelay), Ends: 1, Last: m.at}, m.held(second, "bad"))
	m.held(second, "beside")
	other := passOver("bad")
	other.UID = "another"
	again, hold := second.Begin(other)
	require.Nil(t, hold, "it was made again under its name")
	again.End()

	m.at = m.at.Add(firstDelay)
	beside := m.begin(second, "beside")
	assert.Equal(t, &Hold{Until: m.at.Add(retryBeside)}, m.held(second, "bad"), "suspects run one at a time")
	beside.Leave()
	m.begin(second, "beside").End() // it was postponed; only this clears it
	m.begin(second, "bad")

	third := m.start()
	m.begin(third, "beside").End()
	assert.Equal(t, &Hold{Until: m.at.Add(time.Minute), Ends: 2, Last: m.at}, m.held(third, "bad"))
}

// Processes that end over ever other owners leave a file of a bounded size: a full volume would end the next process, too.
func TestSuspectsAreBounded(t *testing.T) {
	m := newMachine(t)
	for start := range 20 {
		r := m.start()
		for n := range 48 {
			m.begin(r, fmt.Sprint(strings.Repeat("x", 230), start, "-", n))
		}
		m.at = m.at.Add(time.Second)
	}
	last := m.start()
	m.held(last, fmt.Sprint(strings.Repeat("x", 230), "19-0"))
	m.begin(last, fmt.Sprint(strings.Repeat("x", 230), "0-0"))
	info, err := os.Stat(filepath.Join(m.dir, suspectsFile))
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(512<<10), "two of them are in a volume of 1 MiB")
}

func TestDelaysGrow(t *testing.T) {
	m := newMachine(t)
	var delays []time.Duration
	m.begin(m.start(), "bad")
	for range 6 {
		r := m.start()
		until := m.held(r, "bad").Until
		delays = append(delays, until.Sub(m.at))
		m.at = until
		m.begin(r, "bad")
	}
	assert.Equal(t, []time.Duration{10 * time.Second, time.Minute, 6 * time.Minute, 36 * time.Minute, time.Hour, time.Hour}, delays)
}

// A suspect whose pass ended well runs at once, beside no other one for an hour, and is as all others then. If the process ends
// during it within that hour, it is put off for longer than the first time.
func TestSuspectsAreCleared(t *testing.T) {
	m := newMachine(t)
	killed := m.start()
	m.begin(killed, "a")
	m.begin(killed, "b")
	r := m.start()
	m.at = m.at.Add(firstDelay)
	m.begin(r, "a").End()
	m.begin(r, "b").End()
	a := m.begin(r, "a")
	m.held(r, "b")
	a.End()
	m.begin(r, "b")

	r = m.start()
	m.begin(r, "a").End()
	assert.Equal(t, 2, m.held(r, "b").Ends)
	m.at = m.at.Add(time.Minute)
	m.begin(r, "b").End()
	m.at = m.at.Add(watchedFor + time.Second)
	m.begin(r, "a")
	m.begin(r, "b")
	assert.Empty(t, r.suspects)
}

// A process that ends of its own accord leaves no suspects, whatever still runs.
func TestCloseSuspectsNobody(t *testing.T) {
	m := newMachine(t)
	r := m.start()
	r.ReportTo(func(err error) { assert.NoError(t, err) })
	late := m.begin(r, "late")
	require.NoError(t, r.Close())
	late.End()
	m.begin(m.start(), "late")
}

// What is in the way of the record is in the way of nothing else.
func TestDamagedFiles(t *testing.T) {
	for name, text := range map[string]string{"text": "no record", "zeros": strings.Repeat("\x00", 3*slotSize), "ones": strings.Repeat("\xff", 3*slotSize)} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			require.NoError(t, os.MkdirAll(m.dir, 0o700))
			for _, file := range []string{runningFile, suspectsFile} {
				require.NoError(t, os.WriteFile(filepath.Join(m.dir, file), []byte(text), 0o600))
			}
			r := m.start()
			r.ReportTo(func(err error) { assert.NoError(t, err) })
			m.begin(r, "a").End()
		})
	}
	m := newMachine(t)
	r := m.start()
	var reported []error
	r.ReportTo(func(err error) { reported = append(reported, err) })
	require.NoError(t, r.running.Close())
	m.begin(r, "a").End()
	m.begin(r, "b").End()
	require.Len(t, reported, 1, "it is reported once, and no pass fails")
	assert.ErrorIs(t, reported[0], os.ErrClosed)
	r.ReportTo(func(err error) { reported = append(reported, err) })
	assert.Len(t, reported, 2, "whoever asks later has it, too")
	_, err := Open(filepath.Join(m.dir, runningFile, "below"), time.Now)
	assert.ErrorContains(t, err, "make the directory")
}

// A pass with the longest names there are is recorded.
func TestLongNames(t *testing.T) {
	m := newMachine(t)
	long := Pass{strings.Repeat("c", 128), strings.Repeat("n", 63), strings.Repeat("x", 253), strings.Repeat("u", 36)}
	_, hold := m.start().Begin(long)
	require.Nil(t, hold)
	_, hold = m.start().Begin(long)
	assert.NotNil(t, hold)
}

func TestManySlots(t *testing.T) {
	m := newMachine(t)
	r := m.start()
	for range 100 {
		m.begin(r, "short").End()
	}
	for i := range 100 {
		m.begin(r, fmt.Sprint(i))
	}
	assert.Equal(t, 100, r.used)
	next := m.start()
	for i := range 100 {
		m.held(next, fmt.Sprint(i))
	}
}

func BenchmarkPass(b *testing.B) {
	r, err := Open(b.TempDir(), time.Now)
	require.NoError(b, err)
	p := passOver("some-flow-of-a-usual-name")
	b.ReportAllocs()
	for b.Loop() {
		running, _ := r.Begin(p)
		running.End()
	}
	require.NoError(b, r.Close())
}
