package buildertest

// OutsideNamespace is the namespace of objects that stand for things outside of the cluster, such as those of a simulated database: see
// package effectstest. They are objects so that [CrashEverywhere] crashes the process after each change, and [Explore] returns to each
// state. A role doesn't apply to them.
const OutsideNamespace = "outside-the-cluster"
