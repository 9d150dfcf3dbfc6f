package docs

import (
	"html"
	"regexp"
	"strconv"
	"strings"
)

var (
	frameLine = regexp.MustCompile(`<text x="\d+" y="(\d+)">(.*)</text>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// LastFrame returns what a picture of tools/record shows in the end, line by line.
func LastFrame(svg string) []string {
	const first, height = 46, 19 // the place of the first line below the command, and the distance of lines
	frames := strings.Split(svg, `<g class="f"`)
	var lines []string
	for _, found := range frameLine.FindAllStringSubmatch(frames[len(frames)-1], -1) {
		y, err := strconv.Atoi(found[1])
		if err != nil {
			continue
		}
		for len(lines) < (y-first)/height {
			lines = append(lines, "")
		}
		lines = append(lines, strings.TrimRight(html.UnescapeString(tag.ReplaceAllString(found[2], "")), " "))
	}
	return lines
}
