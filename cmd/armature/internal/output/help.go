package output

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// helpWidth is the number of columns of help that no terminal shows, and the largest number on one: longer lines are hard to read.
const helpWidth = 100

// WrapHelp wraps the help of a command and of those below it to the width of the terminal.
func WrapHelp(root *cobra.Command) {
	width := widthFor(root.OutOrStdout())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages ", "FlagUsagesWrapped "+strconv.Itoa(width)+" "))
	wrapLong(root, width)
}

func widthFor(w io.Writer) int {
	if f := Screen(w); f != nil {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 40 {
			return min(width, helpWidth)
		}
	}
	return helpWidth
}

func wrapLong(cmd *cobra.Command, width int) {
	cmd.Long = wrap(cmd.Long, width)
	for _, below := range cmd.Commands() {
		wrapLong(below, width)
	}
}

// wrap wraps the paragraphs of a text. Indented lines, such as tables, remain.
func wrap(text string, width int) string {
	var lines []string
	open := false // the last line belongs to a paragraph
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			lines, open = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			if open && len(lines[last])+1+len(word) <= width {
				lines[last] += " " + word
				continue
			}
			lines, open = append(lines, word), true
		}
	}
	return strings.Join(lines, "\n")
}
