package story

// CrashScenario is for tests of the failures of CrashEverywhere.
var CrashScenario = crashScenario
