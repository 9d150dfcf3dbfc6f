package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		// What a report found is the last thing that it prints.
		if !errors.As(err, &failures{}) {
			fmt.Fprintln(os.Stderr, "suites:", err)
		}
		os.Exit(1)
	}
}

func command(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("which command: run or report")
	}
	switch args[0] {
	case "run":
		return runCommand(args[1:], out)
	case "report":
		return reportCommand(args[1:], out)
	case goTestCommand:
		return goTest(args[1:])
	default:
		return fmt.Errorf("there is no command %q: run or report", args[0])
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
