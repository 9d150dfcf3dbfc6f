package graphcmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeDot writes the graph in the language of Graphviz (https://graphviz.org/doc/info/lang.html).
func writeDot(w io.Writer, g graph) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=sans];\n", strconv.Quote(g.name))
	for i, n := range g.nodes {
		fill, stroke := colours(n.state)
		dashed := ""
		if n.finally {
			dashed = `, style="rounded,filled,dashed"`
		}
		fmt.Fprintf(&b, "  n%d [label=%s, fillcolor=%q, color=%q, tooltip=%q%s];\n",
			i, dotText(strings.Join(n.label(), "\n")), fill, stroke, n.state, dashed)
	}
	for i, n := range g.nodes {
		for _, d := range n.after {
			fmt.Fprintf(&b, "  n%d -> n%d;\n", d, i)
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// dotText quotes a text as Graphviz reads it: only quotes and backslashes are escaped.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// writeMermaid writes the graph as a flowchart of Mermaid (https://mermaid.js.org/syntax/flowchart.html).
func writeMermaid(w io.Writer, g graph) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	used := map[string]bool{}
	for i, n := range g.nodes {
		fmt.Fprintf(&b, "  n%d(\"%s\"):::%s\n", i, mermaidText(strings.Join(n.label(), "\n")), n.state)
		if !used[string(n.state)] {
			used[string(n.state)] = true
			fill, stroke := colours(n.state)
			fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:#212121\n", n.state, fill, stroke)
		}
		if n.finally {
			fmt.Fprintf(&b, "  style n%d stroke-dasharray:4 3\n", i)
		}
	}
	for i, n := range g.nodes {
		for _, d := range n.after {
			fmt.Fprintf(&b, "  n%d --> n%d\n", d, i)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mermaidText writes what would end a text, or begin markup in it, as entities.
func mermaidText(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", "<br>").Replace(s)
}
