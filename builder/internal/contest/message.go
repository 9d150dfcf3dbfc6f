package contest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// Message names the contested fields of the child and the managers that change them, and says what to do about it.
func (c Contest) Message() string {
	if len(c.Fields) == 0 {
		return fmt.Sprintf("it keeps being deleted by another writer; it was created again at least %d times, and is created ever more "+
			"rarely, up to %s apart. Stop the other writer, such as another version of this program that prunes it",
			c.Times, MaxBackoff)
	}
	by := "an unknown writer, as no field manager claims the change"
	if len(c.By) > 0 {
		by = strings.Join(shownFew(c.By), ", ")
	}
	text := fmt.Sprintf("%s keeps being changed by %s; it was put back at least %d times, and is put back ever more rarely, up to %s apart",
		strings.Join(shownFew(c.Fields), ", "), by, c.Times, MaxBackoff)
	if c.Self {
		return text + ". That is this controller's own name: stop the other instance or version of this program"
	}
	var ignorable []string
	for _, field := range c.Fields {
		if path, err := paths.Parse(field); err == nil && path.CheckIgnorable() == nil {
			ignorable = append(ignorable, fmt.Sprintf("%q", field))
		}
	}
	if len(ignorable) == 0 {
		return text + ". Stop one of the two writers"
	}
	return text + ". Stop one of the two writers, or leave the fields to the other by builder.Ignore(" +
		strings.Join(shownFew(ignorable), ", ") + ")"
}

// shownFew returns the first names of a list, and the number of the others.
func shownFew(names []string) []string {
	const shown = 4
	if len(names) <= shown {
		return names
	}
	return append(slices.Clone(names[:shown]), fmt.Sprintf("and %d more", len(names)-shown))
}
