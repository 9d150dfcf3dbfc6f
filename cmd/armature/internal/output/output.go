// Package output is the flag -o of commands that print something of their own: for people, or for scripts.
package output

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flag is the flag -o.
type Flag struct {
	// Format is what was asked for; empty is the one for people.
	Format string

	formats []string
}

// New returns the flag of a command that can print in these formats.
func New(formats ...string) *Flag { return &Flag{formats: formats} }

// AddTo adds the flag to a command's.
func (f *Flag) AddTo(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Format, "output", "o", "", "`format`: "+strings.Join(f.formats, ", ")+" (default: text)")
}

// Check refuses formats that the command doesn't have.
func (f *Flag) Check() error {
	if f.Format == "" || slices.Contains(f.formats, f.Format) {
		return nil
	}
	return fmt.Errorf("--output: %q; want one of %s", f.Format, strings.Join(f.formats, ", "))
}

// Encode prints a value as JSON or YAML if that was asked for, and reports whether it was.
func (f *Flag) Encode(w io.Writer, value any) (bool, error) {
	encode := map[string]func(any) ([]byte, error){"json": func(v any) ([]byte, error) { return JSON(v, "  ") }, "yaml": YAML}[f.Format]
	if encode == nil {
		return false, nil
	}
	text, err := encode(value)
	if err == nil {
		_, err = w.Write(text)
	}
	return true, err
}

// Paint colours words, if anyone can see it.
type Paint bool

// PaintFor colours what is written to a terminal, unless the environment says NO_COLOR, or TERM=dumb.
func PaintFor(w io.Writer) Paint {
	paint := Paint(os.Getenv("NO_COLOR") == "" && Screen(w) != nil)
	if c, ok := w.(*Cleaner); ok {
		c.colours = bool(paint)
	}
	return paint
}

// The colours of texts, by what they mean.
const (
	Good  = "32"
	Bad   = "31"
	Busy  = "36"
	Faint = "2"
	Bold  = "1"
)

// In returns a text in a colour; as it is, if the colour is empty.
func (p Paint) In(colour, text string) string {
	if !p || text == "" || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
