package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		// What a report found, or a measurement, is the last thing that it prints.
		if !errors.As(err, &failures{}) {
			fmt.Fprintln(os.Stderr, "suites:", err)
		}
		os.Exit(1)
	}
}

func command(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("which command: run, report or coverage")
	}
	switch args[0] {
	case "run":
		return runCommand(args[1:], out)
	case "report":
		return reportCommand(args[1:], out)
	case "coverage":
		return coverageCommand(args[1:], out)
	case goTestCommand:
		return goTest(args[1:])
	default:
		return fmt.Errorf("there is no command %q: run, report or coverage", args[0])
	}
}

func runCommand(args []string, out io.Writer) error {
	r := run{}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&r.name, "name", "", "`name` of the suite")
	flags.StringVar(&r.out, "out", ".", "`directory` for the events of the tests")
	flags.StringVar(&r.dir, "C", ".", "`directory` to run go test in")
	flags.StringVar(&r.packages, "packages", "./...", "`list` of packages, separated by spaces")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.name == "" {
		return errors.New("run: -name is required")
	}
	r.flags = flags.Args()
	return r.suite(out)
}

func reportCommand(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	dir := flags.String("out", ".", "`directory` with the events of the tests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("report: name the suites")
	}
	return report(*dir, flags.Args(), out)
}

func coverageCommand(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("coverage", flag.ContinueOnError)
	packages := flags.String("packages", "", "`list` of the measured packages, separated by spaces")
	gapsFile := flags.String("gaps", "", "`file` with the known gaps")
	unit := flags.String("unit", "", "`profile` of the tests without a cluster")
	both := flags.String("both", "", "`profile` of all tests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*gapsFile)
	if err != nil {
		return err
	}
	gaps, err := parseGaps(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", *gapsFile, err)
	}
	return coverageOf(strings.Fields(*packages), gaps, *unit, *both, out)
}
