package contest

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/internal/text"
)

// shown is the number of fields and of managers that a message names.
const shown = 4

// Message names the contested fields of the child and the managers that change them, and says what to do about it.
func (c Contest) Message() string {
	if len(c.Fields) == 0 {
		return fmt.Sprintf("it keeps being deleted by another writer; it was created again at least %d times, and is created ever more "+
			"rarely, up to %s apart. Stop the other writer, such as another version of this program that prunes it",
			c.Times, MaxBackoff)
	}
	by := "an unknown writer, as no field manager claims the change"
	if len(c.By) > 0 {
		by = strings.Join(text.Few(c.By, shown), ", ")
	}
	message := fmt.Sprintf("%s keeps being changed by %s; it was put back at least %d times, and is put back ever more rarely, up to %s apart",
		strings.Join(text.Few(c.Fields, shown), ", "), by, c.Times, MaxBackoff)
	if c.Self {
		return message + ". That is this controller's own name: stop the other instance or version of this program"
	}
	var ignorable []string
	for _, field := range c.Fields {
		if path, err := paths.Parse(field); err == nil && path.CheckIgnorable() == nil {
			ignorable = append(ignorable, fmt.Sprintf("%q", field))
		}
	}
	if len(ignorable) == 0 {
		return message + ". Stop one of the two writers"
	}
	return message + ". Stop one of the two writers, or leave the fields to the other by builder.Ignore(" +
		strings.Join(text.Few(ignorable, shown), ", ") + ")"
}
