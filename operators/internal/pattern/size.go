package pattern

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSize is how large the expressions of one object may be together. A match of 4 KiB then takes at most some 0.3 s.
const MaxSize = 2000

const (
	// maxText bounds the text that is parsed, in bytes: the 1,024 characters that schemas admit.
	maxText = 4 << 10
	// sizeOfClass is the size of a Unicode class: parsing it takes up to 0.2 ms.
	sizeOfClass = 20
	// foldedPerSize is how many code points of case-insensitive ranges have the size 1: the parser looks up each of them.
	foldedPerSize = 8
)

// Size returns the size of an expression: the number of its instructions, and more for what takes long to parse. It takes a few
// milliseconds at most, and doesn't parse an expression that is larger than [MaxSize] anyway. The error is that of the parser.
func Size(text string) (int, error) {
	size := sizeOfClasses(text) + foldedIn(text)/foldedPerSize
	if len(text) > maxText {
		size += len(text)
	}
	if size > MaxSize {
		return size, nil
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return size + len(text), err
	}
	return size + instructions(re), nil
}

func sizeOfClasses(text string) int {
	return sizeOfClass * (strings.Count(text, `\p`) + strings.Count(text, `\P`))
}

// instructions returns how many instructions an expression compiles to, as package syntax estimates it for its own limit of 3 million.
func instructions(re *syntax.Regexp) (n int) {
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture, syntax.OpStar:
		n += 2
	case syntax.OpPlus, syntax.OpQuest:
		n++
	case syntax.OpAlternate:
		n += len(re.Sub) - 1
	case syntax.OpRepeat:
		switch {
		case re.Max >= 0: // x{2,4}: xx(x(x)?)?
			n = re.Max*n + re.Max - re.Min
		case re.Min == 0: // x{0,}: x*
			n += 2
		default: // x{2,}: xx+
			n = re.Min*n + 1
		}
	}
	return max(1, n)
}

// foldedIn returns how many code points the case-insensitive ranges of an expression have at most. Ranges below the code point 512 aren't
// counted: only a literal character and \x{...} can end a larger one.
func foldedIn(text string) (n int) {
	if !isFolding(text) {
		return 0
	}
	isQuoting := strings.Contains(text, `\Q`) // where a class begins isn't known then
	inClass := false
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == '\\':
			i++
		case rest[0] == '[' && !inClass:
			inClass = true
			i += len(rest) - len(strings.TrimPrefix(strings.TrimPrefix(rest[1:], "^"), "]")) - 1 // a first ] is a character of the class
		case strings.HasPrefix(rest, "[:"): // such as [:alpha:], whose ] ends no class
			if name, _, ok := strings.Cut(rest[2:], ":]"); ok {
				i += len("[:" + name + ":")
			}
		case rest[0] == ']':
			inClass = false
		case rest[0] == '-' && (inClass || isQuoting):
			n += foldedBetween(text[:i], rest[1:])
		}
	}
	return n
}

// foldedBetween returns how many code points a range has at most, given the text before and after its dash.
func foldedBetween(before, after string) int {
	last, _ := utf8.DecodeRuneInString(after)
	if digits, ok := strings.CutPrefix(after, `\x{`); ok {
		digits, _, _ = strings.Cut(digits, "}")
		if code, err := strconv.ParseUint(digits, 16, 32); err == nil {
			last = rune(min(code, unicode.MaxRune))
		} else {
			last = unicode.MaxRune // the parser refuses it
		}
	}
	if last < utf8.RuneSelf {
		return 0
	}
	first, _ := utf8.DecodeLastRuneInString(before)
	if first < utf8.RuneSelf { // it may be the end of an escape
		first = 0
	}
	return max(0, int(last-first))
}

// isFolding reports whether a part of an expression may be case-insensitive: whether it sets the flag i.
func isFolding(text string) bool {
	for {
		_, rest, found := strings.Cut(text, "(?")
		if !found {
			return false
		}
		others := strings.TrimLeft(rest, "msU-")
		if strings.HasPrefix(others, "i") {
			return true
		}
		text = rest
	}
}
