//go:build linux

package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cell is a character and its colour: the parameters of the escape sequence that set it, as in "1;32".
type cell struct {
	char   rune
	colour string
}

type line []cell

// screen is a terminal, as far as our commands use one: lines, colours, moving up, erasing.
type screen struct {
	columns, rows int
	lines         []line
	row, column   int
	colour        string
	rest          []byte // the beginning of what has not come whole yet
}

func newScreen(columns, rows int) *screen {
	return &screen{columns: columns, rows: rows, lines: []line{nil}}
}

var escape = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)

func (s *screen) write(text []byte) {
	text = append(s.rest, text...)
	for len(text) > 0 {
		if text[0] == 0x1b {
			found := escape.FindSubmatch(text)
			if found == nil {
				if len(text) < 16 {
					break
				}
				text = text[1:]
				continue
			}
			s.control(string(found[1]), found[2][0])
			text = text[len(found[0]):]
			continue
		}
		if !utf8.FullRune(text) {
			break
		}
		char, size := utf8.DecodeRune(text)
		s.put(char)
		text = text[size:]
	}
	s.rest = append([]byte(nil), text...)
}

func (s *screen) put(char rune) {
	switch char {
	case '\r':
		s.column = 0
	case '\n':
		s.row++
		s.column = 0
		if s.row == len(s.lines) {
			s.lines = append(s.lines, nil)
		}
		if len(s.lines) > s.rows {
			s.lines, s.row = s.lines[1:], s.row-1
		}
	default:
		if s.column == s.columns {
			s.put('\n')
		}
		for len(s.lines[s.row]) <= s.column {
			s.lines[s.row] = append(s.lines[s.row], cell{char: ' '})
		}
		s.lines[s.row][s.column] = cell{char, s.colour}
		s.column++
	}
}

// control does what an escape sequence asks for. Others than these are not used.
func (s *screen) control(parameters string, command byte) {
	n, _ := strconv.Atoi(parameters)
	switch command {
	case 'm':
		if parameters == "" || parameters == "0" {
			s.colour = ""
		} else {
			s.colour = strings.TrimPrefix(s.colour+";"+parameters, ";")
		}
	case 'A':
		s.row = max(0, s.row-max(n, 1))
	case 'K':
		if s.column < len(s.lines[s.row]) {
			s.lines[s.row] = s.lines[s.row][:s.column]
		}
	case 'J':
		if s.column < len(s.lines[s.row]) {
			s.lines[s.row] = s.lines[s.row][:s.column]
		}
		s.lines = s.lines[:s.row+1]
	}
}

// snapshot returns a copy of what is seen.
func (s *screen) snapshot() []line {
	var all []line
	for _, l := range s.lines {
		all = append(all, append(line(nil), l...))
	}
	return all
}
