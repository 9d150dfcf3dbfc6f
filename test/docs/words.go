package docs

import (
	"regexp"
	"strings"
)

// term is a word that the manual and the comments of exported names avoid, and the field's term for it.
type term struct {
	avoid *regexp.Regexp
	use   string
}

// terms are matched in any case and across line breaks; a space stands for any white space.
var terms = []term{
	avoid(`as wanted|what (is|was) wanted|(un)?wanted|what should exist`, "desired, up to date"),
	avoid(`what exists|what there is`, "observed"),
	avoid(`verdicts?|judge[ds]?|weigh(s|ed|ing)?`, "decision, action, evaluate, check"),
	avoid(`looks? at|looked at|looks? after|looks? whether`, "read, check, observe"),
	avoid(`elsewhere`, "cross-namespace, cluster-scoped, or the place"),
	avoid(`outlives?`, "retain (Retain)"),
	avoid(`createonce|frozen child(ren)?`, "CreateOnly, Immutable"),
	avoid(`unclaimed`, "unmanaged field"),
	avoid(`goners?|strays?|foreign`, "orphan, not owned, of another owner"),
	avoid(`namesakes?`, "object of the same name"),
	avoid(`(go|goes|went|going) (forward|back)`, "advance, roll back"),
	avoid(`books? of|rollout book|keeps? (its|their) own books?`, "revision history, record"),
	avoid(`pace|paced|patience|linger(s|ing)?`, "throttle, backoff, debounce, requeue"),
	avoid(`tells?|told|telling|news`, "report, emit an event"),
	avoid(`rehears(e|es|ed|al)`, "dry run"),
	avoid(`(more|no|some|enough|makes?|making|have|has|needs?|is) room|room (for|is|in|to)`, "quota, capacity, size limit, slot"),
	avoid(`spare`, "free list, avoid"),
	avoid(`ledgers?|departed|culprits?|obstacles?`, "record, removed, cause, blocker"),
	avoid(`rosters?|jury|fallen|lenders?|hopeless|situations?|scenes?|surveys?`, "pods, success policy, failed, queue, infeasible, observed"),
	avoid(`in line|lines? up|lined up|(its|their|the) line (of|for)`, "queued, return to the queue, queue"),
	avoid(`town|rig|stepper`, "simulator, fixture, harness"),
	avoid(`mend(s|ed|ing)?`, "fix"),
	avoid(`anew|afresh|made again`, "again, recreated"),
	avoid(`in vain`, "never, without effect"),
	avoid(`on (its|their) way`, "terminating, pending, in transit"),
	avoid(`your turn|it is its turn|comes? to its turn`, "action required, admitted"),
	avoid(`to speak of`, "almost none, or the number"),
	avoid(`dear|heeds?|heeded|lest|hitherto|henceforth|thereof|whereupon|whoever`, "plain present-day English, and the actor"),
	avoid(`no one wants|someone else's|of no one`, "stale, of another owner, without an owner"),
	avoid(`(come|comes|came) of`, "outcome, result"),
	avoid(`need(s)?n't|needs? not|not un(like|common)`, "doesn't need to, or the positive statement"),
	avoid(`put back`, "restore"),
	avoid(`see that|sees that`, "check that"),
	avoid(`goes no further`, "can't progress"),
	avoid(`again and again|over and over`, "repeatedly"),
	avoid(`for ever`, "forever, without a limit"),
	avoid(`the house|of the house`, "repository"),
}

// allowed are quotes and terms that contain one of the words.
var allowed = []string{
	"fallen behind", // of a queue
}

func avoid(pattern, use string) term {
	return term{regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`), use}
}

// private is a word of a text that has a term of the field.
type private struct {
	line      int
	word, use string
}

// privateWords returns the words of a text to avoid, with their lines, which are counted from the given one.
func privateWords(text string, first int) (found []private) {
	for _, phrase := range allowed {
		text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(phrase)).ReplaceAllStringFunc(text, blank)
	}
	for _, t := range terms {
		for _, at := range t.avoid.FindAllStringIndex(text, -1) {
			word := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			found = append(found, private{first + strings.Count(text[:at[0]], "\n"), word, t.use})
		}
	}
	return found
}

// quotes are the parts of a page that show code or output, and the targets of links.
var quotes = regexp.MustCompile("(?ms)^ *```.*?^ *```|<!--.*?-->|`[^`]*?`|\\]\\([^)]*\\)|^(?: {4}|\t)[^\n]*$")

// prose returns a page with blanks in the place of what it quotes.
func prose(page string) string { return quotes.ReplaceAllStringFunc(page, blank) }

// blank returns blanks in the place of a text, with its line breaks.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}
