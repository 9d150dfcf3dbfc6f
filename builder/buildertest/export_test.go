package buildertest

import "context"

// CheckCrashes is CrashEverywhere for tests of its failures.
func CheckCrashes(ctx context.Context, s Scenario) error { return crashEverywhere(ctx, s) }
