package output

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Cleaner is a writer that lets no text control a terminal: what commands print comes from objects, which anyone may have written. A
// control character, but a newline or a tab, is shown as Go writes it, such as \x1b, and so is what changes the direction of a text or
// breaks its line in Unicode's way. Colours pass once [PaintFor] has allowed them.
//
// Everything that a command prints goes through one, so that no command has to think of it.
type Cleaner struct {
	mu      sync.Mutex
	to      io.Writer
	colours bool
	rest    []byte // the beginning of what may be a character or a colour
}

// Clean returns a writer to another.
func Clean(to io.Writer) *Cleaner { return &Cleaner{to: to} }

// Write writes all of a text, but for an unfinished character or colour at its end, which waits for the next one.
func (c *Cleaner) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var clean []byte
	clean, c.rest = cleaned(append(c.rest, text...), c.colours)
	if _, err := c.to.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Text returns a text as a Cleaner writes it.
func Text(text string, colours bool) string {
	clean, rest := cleaned([]byte(text), colours)
	for _, b := range rest {
		clean = fmt.Appendf(clean, `\x%02x`, b)
	}
	return string(clean)
}

// Line returns a text of an object as one line: a run of newlines, tabs and other white space becomes a space. A command whose lines
// mean something writes such texts through it, so that none can make up a line or a column. What else a text may hold is the Cleaner's.
func Line(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// Terminal returns the terminal that is written to, nil if it is none. What is written to it directly isn't cleaned.
func Terminal(w io.Writer) *os.File {
	if c, ok := w.(*Cleaner); ok {
		w = c.to
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Screen returns the terminal that w is if it obeys codes for colours and the cursor, and else nil.
func Screen(w io.Writer) *os.File {
	if os.Getenv("TERM") == "dumb" {
		return nil
	}
	return Terminal(w)
}

// controls reports whether a character isn't one to be seen: it could move the cursor, or show a text in another order.
func controls(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp))
}

func cleaned(text []byte, colours bool) (clean, rest []byte) {
	for len(text) > 0 {
		if colours && text[0] == '\x1b' {
			switch n, whole := colourAt(text); {
			case n > 0:
				clean, text = append(clean, text[:n]...), text[n:]
				continue
			case !whole:
				return clean, bytes.Clone(text)
			}
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n <= 1:
			if !utf8.FullRune(text) {
				return clean, bytes.Clone(text)
			}
			clean = fmt.Appendf(clean, `\x%02x`, text[0])
		case !controls(r):
			clean = append(clean, text[:n]...)
		case r < utf8.RuneSelf:
			clean = fmt.Appendf(clean, `\x%02x`, r)
		default:
			clean = fmt.Appendf(clean, `\u%04x`, r)
		}
		text = text[n:]
	}
	return clean, nil
}

// colourAt returns how long the colour is that a text begins with, 0 if it is none, and false if more text is needed
// to decide. Sequences that hide the text, or let it blink, don't count as colours.
func colourAt(text []byte) (n int, whole bool) {
	for i, b := range text {
		switch {
		case i == 0 || i == 1 && b == '[':
		case i > 1 && i < 4 && b >= '0' && b <= '9':
		case i > 2 && b == 'm':
			switch code := string(text[2:i]); {
			case code == "0", code == Bold, code == Faint, len(code) == 2 && (code[0] == '3' || code[0] == '9') && code[1] >= '1' && code[1] <= '6':
				return i + 1, true
			}
			return 0, true
		default:
			return 0, true
		}
	}
	return 0, false
}
