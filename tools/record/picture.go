//go:build linux

package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

const (
	charWidth  = 8.4
	lineHeight = 19
	margin     = 14
	// linger is how long the end is shown before it begins anew.
	linger = 4 * time.Second
)

// colours are those of a terminal, by their parameters.
var colours = map[string]string{
	"31": "#f28b82", "32": "#81c995", "33": "#fdd663", "34": "#8ab4f8", "35": "#c58af9", "36": "#78d9ec",
	"90": "#9aa0a6", "2": "#9aa0a6",
}

// picture draws frames as an SVG in which one after another is shown.
func picture(o options, frames []frame, took time.Duration) string {
	rows := 1
	for _, f := range frames {
		rows = max(rows, len(f.lines)+1)
	}
	width, height := float64(o.columns)*charWidth+2*margin, rows*lineHeight+2*margin
	total := took + linger
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" `+
		`font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n", html.EscapeString(o.title))
	b.WriteString("text { fill: #e8eaed; white-space: pre }\n")
	if len(frames) > 1 {
		fmt.Fprintf(&b, ".f { visibility: hidden; animation-duration: %.1fs; "+
			"animation-iteration-count: infinite; animation-timing-function: step-end }\n", total.Seconds())
		for i, f := range frames {
			end := total
			if i+1 < len(frames) {
				end = frames[i+1].at
			}
			from, to := percent(f.at, total), percent(end, total)
			if i == 0 {
				from = 0
			}
			fmt.Fprintf(&b, "#f%d { animation-name: k%d }\n"+
				"@keyframes k%d { 0%% { visibility: %s } %.2f%% { visibility: visible } %.2f%% { visibility: %s } }\n",
				i, i, i, when(i == 0), from, to, when(i == len(frames)-1))
		}
		fmt.Fprintf(&b, "#f%d { visibility: visible }\n", len(frames)-1) // where nothing moves, that is the end
	}
	b.WriteString("</style>\n")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="#202124"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="%d"><tspan fill="#81c995">$ </tspan>%s</text>`+"\n",
		margin, margin+lineHeight/2+4, html.EscapeString(o.title))
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="f" id="f%d">`+"\n", i)
		for n, l := range f.lines {
			if text := draw(l); text != "" {
				fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+lineHeight/2+4+(n+1)*lineHeight, text)
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func percent(at, total time.Duration) float64 { return 100 * at.Seconds() / total.Seconds() }

func when(visible bool) string {
	if visible {
		return "visible"
	}
	return "hidden"
}

// draw writes a line, with a span for each run of a colour. Each has its place, so that a font whose signs have other widths
// doesn't shift what follows.
func draw(l line) string {
	for len(l) > 0 && l[len(l)-1].char == ' ' {
		l = l[:len(l)-1]
	}
	var b strings.Builder
	for i := 0; i < len(l); {
		end := i
		for end < len(l) && l[end].colour == l[i].colour {
			end++
		}
		var text strings.Builder
		for _, c := range l[i:end] {
			text.WriteRune(c.char)
		}
		fmt.Fprintf(&b, `<tspan x="%.1f"%s>%s</tspan>`, margin+float64(i)*charWidth, style(l[i].colour), html.EscapeString(text.String()))
		i = end
	}
	return b.String()
}

func style(colour string) string {
	var b strings.Builder
	parameters := strings.Split(colour, ";")
	if slices.Contains(parameters, "1") {
		b.WriteString(` font-weight="bold"`)
	}
	for _, p := range parameters {
		if fill, ok := colours[p]; ok {
			fmt.Fprintf(&b, ` fill="%s"`, fill)
			break
		}
	}
	return b.String()
}
