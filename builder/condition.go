package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition is the standard Kubernetes condition.
type Condition = metav1.Condition

// Types of conditions that every owner can have. kubectl wait and kstatus understand them.
const (
	// ConditionReady is True when all that the spec asks for is there. False says in its reason why not yet.
	ConditionReady = "Ready"
	// ConditionProgressing is True while something is being changed or waited for.
	ConditionProgressing = "Progressing"
	// ConditionStalled is True when nothing more will happen until someone changes the spec or the cluster.
	ConditionStalled = "Stalled"
	// ConditionContested is True while another writer changes children again and again, and the builder puts them back
	// ever more rarely. Its message says which fields, by whom, and what to do. An owner without such children hasn't got it.
	ConditionContested = "Contested"
)
