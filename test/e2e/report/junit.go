package main

import "encoding/xml"

// junitSuite is the format that CI systems read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string    `xml:"name,attr"`
	Seconds float64   `xml:"time,attr"`
	Failure *string   `xml:"failure,omitempty"`
	Skipped *struct{} `xml:"skipped,omitempty"`
}

func (s *suite) junit() junitSuite {
	j := junitSuite{Name: "e2e", Tests: len(s.tests), Failures: s.count("fail"), Skipped: s.count("skip")}
	for _, t := range s.tests {
		c := junitCase{Name: t.name, Seconds: t.seconds}
		switch t.action {
		case "fail":
			output := t.output.String()
			c.Failure = &output
		case "skip":
			c.Skipped = &struct{}{}
		}
		j.Cases = append(j.Cases, c)
	}
	return j
}
