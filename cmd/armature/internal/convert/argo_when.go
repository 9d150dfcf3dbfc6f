package convert

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// condition is an expression of Argo's in terms of jobs: a constant, or the text of a CEL expression.
type condition struct {
	constant bool
	value    bool
	text     string
	// long: it is longer than a flow can have, and has no text. What would start on it is blocked.
	long bool
}

// longestWhen is the maximum of a flow's when.
const longestWhen = 4096

// longestAny and longestAll bound the conditions of which others are made. Dependencies alone can say that all of many jobs have succeeded.
const longestAny, longestAll = longestWhen + len("()"), 16 * longestWhen

func constant(value bool) condition { return condition{constant: true, value: value} }

// String returns the condition as CEL.
func (c condition) String() string {
	if c.constant {
		return strconv.FormatBool(c.value)
	}
	return c.text
}

// always reports whether the condition holds whatever happens.
func (c condition) always() bool { return c.constant && c.value }

func and(terms ...condition) condition { return join(terms, " && ", false) }

func or(terms ...condition) condition { return join(terms, " || ", true) }

// join joins conditions. One that is decisive decides, one that is the opposite has no effect.
func join(terms []condition, operator string, decisive bool) condition {
	var texts []string
	length, long := 0, false
	for _, term := range terms {
		switch {
		case term.constant && term.value == decisive:
			return term
		case !term.constant:
			texts = append(texts, term.text)
			length += len(term.text)
			long = long || term.long
		}
	}
	longest := longestAll
	if decisive {
		longest = longestAny
	}
	if long || length > longest { // those of all tasks before would be in it many times
		return condition{long: true}
	}
	switch len(texts) {
	case 0:
		return constant(!decisive)
	case 1:
		return condition{text: texts[0]}
	}
	text := strings.Join(texts, operator)
	if decisive {
		text = "(" + text + ")"
	}
	return condition{text: text}
}

func not(c condition) condition {
	switch {
	case c.constant:
		return constant(!c.value)
	case c.long:
		return c
	case plainTerm.MatchString(c.text), strings.HasPrefix(c.text, "(") && closes(c.text):
		return condition{text: "!" + c.text}
	}
	return condition{text: "!(" + c.text + ")"}
}

var plainTerm = regexp.MustCompile(`^jobs(\.[a-z0-9]+|\["[a-z0-9-]+"\])\.[a-z]+$`)

// unwrapped returns the condition's text without parentheses around all of it.
func (c condition) unwrapped() string {
	text := c.String()
	if strings.HasPrefix(text, "(") && closes(text) {
		return text[1 : len(text)-1]
	}
	return text
}

// closes reports whether the parenthesis that a text begins with ends it. Those in quoted texts don't count.
func closes(text string) bool {
	depth, quoted, escaped := 0, false, false
	for i, r := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
		if depth == 0 {
			return i == len(text)-1
		}
	}
	return false
}

// whenToken is a token of a "when": a reference with or without quotes, a quoted text, an operator, a word or a number.
var whenToken = regexp.MustCompile(`^\s*(["']?\{\{[^{}]*\}\}["']?|"[^"\\]*"|'[^'\\]*'|` +
	`&&|\|\||==|!=|<=|>=|[<>!()]|[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+(?:\.[0-9]+)?)`)

var whenReference = regexp.MustCompile(`^["']?\{\{\s*(?:tasks|steps)\.([A-Za-z0-9_-]+)\.(status|outputs\.result)\s*\}\}["']?$`)

// looksLikeDate: Argo compares quoted texts that are dates as such.
var looksLikeDate = regexp.MustCompile(`^["'](\d{4}-\d|\d{1,2}:\d\d|[A-Z][a-z]{2} )`)

// whenParser reads a "when" as Argo does, whose bare words are texts: staging == prod.
type whenParser struct {
	tokens []string
	// references returns what a task's status is compared with, or its output.
	references func(task, what, value string) (condition, error)
	// operands, if set, returns the condition of a token: there are no comparisons.
	operands func(token string) (condition, error)
}

// parseWhen makes a condition of a "when" in which the parameters have been filled in.
func parseWhen(text string, references func(task, what, value string) (condition, error)) (condition, error) {
	tokens, err := tokensOf(text, whenToken)
	if err != nil {
		return condition{}, err
	}
	return (&whenParser{tokens: tokens, references: references}).parse()
}

// tokensOf splits a text into its tokens. If some of it is no token, it returns those before.
func tokensOf(text string, token *regexp.Regexp) (tokens []string, err error) {
	for rest := text; strings.TrimSpace(rest) != ""; {
		found := token.FindStringSubmatch(rest)
		if found == nil {
			return tokens, fmt.Errorf("%q isn't understood", strings.TrimSpace(rest))
		}
		tokens, rest = append(tokens, found[1]), rest[len(found[0]):]
	}
	return tokens, nil
}

// parse makes a condition of all tokens.
func (p *whenParser) parse() (condition, error) {
	c, err := p.or()
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("%q isn't understood", p.tokens[0])
	}
	return c, err
}

func (p *whenParser) next(tokens ...string) bool {
	for _, token := range tokens {
		if len(p.tokens) > 0 && p.tokens[0] == token {
			p.tokens = p.tokens[1:]
			return true
		}
	}
	return false
}

func (p *whenParser) or() (condition, error) {
	c, err := p.and()
	for err == nil && p.next("||") {
		var other condition
		other, err = p.and()
		c = or(c, other)
	}
	return c, err
}

func (p *whenParser) and() (condition, error) {
	c, err := p.term()
	for err == nil && p.next("&&") {
		var other condition
		other, err = p.term()
		c = and(c, other)
	}
	return c, err
}

func (p *whenParser) term() (condition, error) {
	switch {
	case p.next("!"):
		c, err := p.term()
		return not(c), err
	case p.next("("):
		c, err := p.or()
		if err == nil && !p.next(")") {
			err = fmt.Errorf("a parenthesis isn't closed")
		}
		return c, err
	}
	if p.operands != nil && len(p.tokens) > 0 {
		token := p.tokens[0]
		p.tokens = p.tokens[1:]
		return p.operands(token)
	}
	return p.comparison()
}

func (p *whenParser) comparison() (condition, error) {
	left, err := p.operand()
	if err != nil {
		return condition{}, err
	}
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.next(operator) {
			right, err := p.operand()
			if err != nil {
				return condition{}, err
			}
			return p.compare(left, operator, right)
		}
	}
	if value, ok := left.(bool); ok {
		return constant(value), nil
	}
	return condition{}, fmt.Errorf("%v is no condition", left)
}

// reference is a token that stands for a task's status or output.
type reference struct{ task, what string }

// operand returns a string, a float64, a bool or a reference.
func (p *whenParser) operand() (any, error) {
	if len(p.tokens) == 0 {
		return nil, fmt.Errorf("it ends where a value is expected")
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	if found := whenReference.FindStringSubmatch(token); found != nil {
		return reference{found[1], found[2]}, nil
	}
	if inner := strings.Trim(token, `"' {}`); inner == workflowStatus && strings.Contains(token, "{{") {
		return reference{what: workflowStatus}, nil
	}
	switch {
	case strings.Contains(token, "{{"):
		return nil, fmt.Errorf("%s has no value here", token)
	case looksLikeDate.MatchString(token):
		return nil, fmt.Errorf("%s is a date, which isn't compared", token)
	case token[0] == '"', token[0] == '\'':
		return token[1 : len(token)-1], nil
	case token == "true", token == "false":
		return token == "true", nil
	case token == "in":
		return nil, fmt.Errorf("%q isn't understood", token)
	}
	looksLikeNumber := strings.ContainsAny(token, "0123456789") && !strings.ContainsAny(token[:1], "nNiI_")
	if number, err := strconv.ParseFloat(token, 64); err == nil && looksLikeNumber {
		return number, nil
	}
	if !isWord.MatchString(token) {
		return nil, fmt.Errorf("%q isn't understood", token)
	}
	return token, nil
}

var isWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p *whenParser) compare(left any, operator string, right any) (condition, error) {
	if _, ok := right.(reference); ok {
		left, right = right, left
		operator = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}[operator]
	}
	of, isReference := left.(reference)
	if _, both := right.(reference); both || isReference && operator != "==" && operator != "!=" {
		return condition{}, fmt.Errorf("what tasks put out can only be compared with a text, by == and !=")
	}
	if isReference {
		c, err := p.references(of.task, of.what, valueText(right))
		if operator == "!=" {
			c = not(c)
		}
		return c, err
	}
	if operator == "==" || operator == "!=" {
		return constant((left == right) == (operator == "==")), nil
	}
	a, ok := left.(float64)
	b, also := right.(float64)
	if !ok || !also {
		return condition{}, fmt.Errorf("%v %s %v compares what aren't numbers", left, operator, right)
	}
	return constant(map[string]bool{"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]), nil
}
