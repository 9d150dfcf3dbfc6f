package output

import (
	"bytes"
	"os"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestTextControlsNoTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext, ünïcode 日本\n":                  "plain\ttext, ünïcode 日本\n",
		"up \x1b[2A and clear \x1b[2J":               `up \x1b[2A and clear \x1b[2J`,
		"a title \x1b]0;x\x07":                       `a title \x1b]0;x\x07`,
		"over\rwritten\b":                            `over\x0dwritten\x08`,
		"one byte \x9b2J, as a rune \u009b2J.":       `one byte \x9b2J, as a rune \u009b2J.`,
		"a NUL \x00, a DEL \x7f":                     `a NUL \x00, a DEL \x7f`,
		"red \x1b[31mred\x1b[0m":                     `red \x1b[31mred\x1b[0m`,
		"backwards \u202etxt.exe\u2066 \u200f\u061c": `backwards \u202etxt.exe\u2066 \u200f\u061c`,
		"lines \u2028 \u2029":                        `lines \u2028 \u2029`,
		"cut \xe6\x97":                               `cut \xe6\x97`,
	} {
		assert.Equal(t, want, Text(text, false))
	}
	assert.Equal(t, "\x1b[31mred\x1b[0m \x1b[2mfaint\x1b[0m", Text("\x1b[31mred\x1b[0m \x1b[2mfaint\x1b[0m", true))
	for _, hiding := range []string{"\x1b[8m", "\x1b[5m", "\x1b[30m", "\x1b[48;5;1m", "\x1b[m", "\x1b[2A", "\x1b[", "\x1b"} {
		assert.NotContains(t, Text(hiding, true), "\x1b", "%q", hiding)
	}
}

func TestLineIsOne(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"  as it  is ":                 "  as it  is ",
		"a\nPod/forged\tSucceeded\r\n": "a Pod/forged Succeeded",
		"\v\f\u0085\u2028\u2029":       "",
	} {
		assert.Equal(t, want, Line(text))
	}
}

func TestCleanerWritesWhatComesInPieces(t *testing.T) {
	text := "日本 \x1b[31mred\x1b[0m \x1b[2J \xff end\n"
	for _, colours := range []bool{false, true} {
		var b bytes.Buffer
		c := Clean(&b)
		c.colours = colours
		for i := range len(text) {
			n, err := c.Write([]byte{text[i]})
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
		assert.Equal(t, Text(text, colours), b.String())
	}
}

func FuzzText(f *testing.F) {
	f.Add("backwards \u202e\u2066 \u2028 \x7f \u0085 \ufeff", false)
	f.Add("red \x1b[31mred\x1b[0m \x9b \u009b \x00", true)
	f.Fuzz(func(t *testing.T, text string, colours bool) {
		clean := Text(text, false)
		for _, r := range clean {
			assert.False(t, r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r), "%q", clean)
		}
		assert.Equal(t, clean, Text(clean, colours), "clean text stays as it is")
		if !utf8.ValidString(text) {
			return
		}
		for name, encode := range map[string]func(any) ([]byte, error){"JSON": func(v any) ([]byte, error) { return JSON(v, " ") }, "YAML": YAML} {
			encoded, err := encode(map[string]string{"a": text})
			require.NoError(t, err)
			assert.Equal(t, string(encoded), Text(string(encoded), false), "%s is clean", name)
			var back map[string]string
			require.NoError(t, yaml.Unmarshal(encoded, &back), "%q", encoded)
			assert.Equal(t, text, back["a"], "%s says the same: %q", name, encoded)
		}
	})
}

// A dumb terminal, such as a shell in Emacs, shows codes as text.
func TestScreen(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || Terminal(terminal) == nil {
		t.Skip("no pseudo terminal")
	}
	defer terminal.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	assert.NotNil(t, Screen(terminal))
	assert.True(t, bool(PaintFor(terminal)))
	t.Setenv("TERM", "dumb")
	assert.Nil(t, Screen(terminal))
	assert.False(t, bool(PaintFor(terminal)))
	assert.NotNil(t, Terminal(terminal))
}
