package graphcmd

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// Sizes in pixels.
const (
	charWidth  = 7.3 // of the font, about
	lineHeight = 17
	padding    = 10
	gapAcross  = 60 // between layers
	gapDown    = 16 // between nodes of a layer
	margin     = 20
)

// box is where a node is, and where the widest of its layer ends.
type box struct{ x, y, width, height, column float64 }

// writeSVG draws the graph from left to right, a column for each layer.
func writeSVG(w io.Writer, g graph) error {
	boxes, width, height := place(g)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace, monospace" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(g.name))
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">` +
		`<path d="M0 0L8 4L0 8z" fill="#757575"/></marker></defs>` + "\n")
	for i, n := range g.nodes {
		for _, d := range n.after {
			from, to := boxes[d], boxes[i]
			x1, y1, x2, y2 := from.x+from.width, from.y+from.height/2, to.x, to.y+to.height/2
			bend := max((x2-from.column)/2, gapAcross/2)
			fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#757575" marker-end="url(#tip)"/>`+"\n",
				x1, y1, from.column, from.column+bend, y1, x2-bend, y2, x2, y2)
		}
	}
	for i, n := range g.nodes {
		at := boxes[i]
		fill, stroke := colours(n.state)
		dashed := ""
		if n.finally {
			dashed = ` stroke-dasharray="4 3"`
		}
		fmt.Fprintf(&b, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="%s" stroke="%s"%s/>`,
			escaped(n.name+": "+string(n.state)), at.x, at.y, at.width, at.height, fill, stroke, dashed)
		for l, line := range n.label() {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#212121">%s</text>`, at.x+padding, at.y+padding+float64(l)*lineHeight+11, escaped(line))
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// escaped returns a text as XML has it, without the characters that no XML may have.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(output.Text(text, false))) // a Builder never fails
	return b.String()
}

// place gives each node its box, and says how large the picture is. Layers stand side by side, with their middles on one
// line.
func place(g graph) (boxes []box, width, height float64) {
	boxes = make([]box, len(g.nodes))
	layers := inOrder(g)
	tall := make([]float64, len(layers))
	x := float64(margin)
	for l, layer := range layers {
		widest := 0.0
		for _, i := range layer {
			lines := g.nodes[i].label()
			longest := 0
			for _, line := range lines {
				longest = max(longest, utf8.RuneCountInString(line))
			}
			boxes[i] = box{x: x, width: float64(longest)*charWidth + 2*padding, height: float64(len(lines)*lineHeight + 2*padding - 4)}
			widest = max(widest, boxes[i].width)
			tall[l] += boxes[i].height + gapDown
		}
		for _, i := range layer {
			boxes[i].column = x + widest
		}
		x += widest + gapAcross
	}
	most := slices.Max(append(tall, 0))
	for l, layer := range layers {
		y := margin + (most-tall[l])/2
		for _, i := range layer {
			boxes[i].y = y
			y += boxes[i].height + gapDown
		}
	}
	return boxes, x - gapAcross + margin, most - gapDown + 2*margin
}

// inOrder lists the nodes of each layer so that few edges cross: each near the middle of what it depends on.
func inOrder(g graph) [][]int {
	var layers [][]int
	for i, n := range g.nodes {
		for len(layers) <= n.layer {
			layers = append(layers, nil)
		}
		layers[n.layer] = append(layers[n.layer], i)
	}
	height := make([]float64, len(g.nodes))
	for _, layer := range layers {
		for at, i := range layer {
			sum, count := 0.0, 0
			for _, d := range g.nodes[i].after {
				if g.nodes[d].layer < g.nodes[i].layer {
					sum += height[d]
					count++
				}
			}
			height[i] = float64(at)
			if count > 0 {
				height[i] = sum / float64(count)
			}
		}
		slices.SortStableFunc(layer, func(a, b int) int {
			switch {
			case height[a] < height[b]:
				return -1
			case height[a] > height[b]:
				return 1
			default:
				return 0
			}
		})
		for at, i := range layer {
			height[i] = float64(at) - float64(len(layer)-1)/2 // layers are compared by their middles
		}
	}
	return layers
}
