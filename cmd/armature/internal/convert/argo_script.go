package convert

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	takesScripts = regexp.MustCompile(`^(sh|bash|ash|dash|zsh|python[0-9.]*)$`)
	// hasValue is an option of theirs that is followed by its value.
	hasValue = regexp.MustCompile(`^([-+][A-Za-z]*[oO]|-[WX])$`)
)

// script makes the main container of a script. Argo runs the command with the arguments and a file with the source, in which Kubernetes
// replaces nothing. Here the source follows -c in the command, where $ has to be escaped.
func (f *argoFlow) script(p *place) map[string]any {
	script := p.template.get("script")
	container := f.filled(script, p)
	source, _ := container["source"].(string)
	command, _ := container["command"].([]any)
	args, _ := container["args"].([]any)
	delete(container, "source")
	delete(container, "args")
	if len(command) == 0 {
		f.root.source.note(script.path, "it has no command: the script is run by sh")
		command = []any{"sh"}
	}
	command = slices.Concat(command, args)
	if !takesScript(command) {
		at := script.get("command").orElse(script)
		f.root.source.note(at.path, "it is taken to run a script that follows -c, as sh and python do with options before")
	}
	container["command"] = append(command, "-c", escaped(source))
	return container
}

// takesScript reports whether a command is a shell or python with nothing but options, so that a script can follow.
func takesScript(command []any) bool {
	for i, word := range command {
		text := asText(word)
		switch {
		case i == 0 && !takesScripts.MatchString(path.Base(text)):
			return false
		case i == 0 || hasValue.MatchString(asText(command[i-1])) && i > 1:
		case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"), strings.Trim(text, "-") == "":
			return false
		}
	}
	return true
}
