//go:build linux

package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, c := range l {
			b.WriteRune(c.char)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestScreen(t *testing.T) {
	for name, tt := range map[string]struct {
		parts []string
		want  string
	}{
		"lines":              {[]string{"a\r\nb"}, "a\nb\n"},
		"redrawn":            {[]string{"one\r\ntwo\r\n", "\x1b[2A\rxx\x1b[K\r\n\x1b[J"}, "xx\n\n"},
		"split in a sign":    {[]string{"\xe2\x9c", "\x94"}, "✔\n"},
		"split in an escape": {[]string{"a\x1b[3", "2mb"}, "ab\n"},
		"wrapped":            {[]string{"12345678901"}, "1234567890\n1\n"},
		"scrolled":           {[]string{"a\r\nb\r\nc\r\nd"}, "b\nc\nd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(10, 3)
			for _, part := range tt.parts {
				s.write([]byte(part))
			}
			assert.Equal(t, tt.want, text(s.snapshot()))
		})
	}
}

// parts are what a command prints, each read by itself.
type parts []string

func (p *parts) Read(buffer []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(buffer, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

func TestFrames(t *testing.T) {
	clock := time.Unix(0, 0)
	second := func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}
	for name, tt := range map[string]struct {
		atLeast time.Duration
		want    []string
	}{
		"each":                          {time.Second, []string{"1s a\n", "2s b\n", "3s c\n"}},
		"those soon are drawn together": {2 * time.Second, []string{"1s b\n", "3s c\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			frames, took := watch(&parts{"a", "\rb", "\rc"}, newScreen(10, 1), tt.atLeast, second)
			var got []string
			for _, f := range frames {
				got = append(got, fmt.Sprint(f.at, " ", text(f.lines)))
			}
			assert.Equal(t, tt.want, got)
			assert.Equal(t, 4*time.Second, took)
			svg := picture(options{columns: 10, rows: 1}, frames, took)
			assert.Contains(t, svg, "@keyframes k1")
		})
	}
}

func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.svg")
	err := record(options{output: file, title: "say <it>", columns: 20, rows: 5},
		[]string{"sh", "-c", `test -t 1 && printf 'old\033[K\n\033[1A\r\033[1;32mgreen\033[0m & plain\nlater'`})
	require.NoError(t, err)
	svg, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(svg), `<tspan x="14.0" font-weight="bold" fill="#81c995">green</tspan><tspan x="56.0"> &amp; plain</tspan>`)
	assert.Contains(t, string(svg), ">later<")
	assert.Contains(t, string(svg), "say &lt;it&gt;")
	for decoder := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
	require.Error(t, record(options{output: file, columns: 20, rows: 5}, []string{"no-such-command"}))
	require.Error(t, record(options{}, nil))
}
