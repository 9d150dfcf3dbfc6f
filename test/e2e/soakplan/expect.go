package soakplan

// End is how an object ends.
type End string

// The ends.
const (
	Succeeded End = "Succeeded"
	Failed    End = "Failed"
	// Gone: a user has deleted it.
	Gone End = "Gone"
	// NoEnd: it isn't of a kind that ends.
	NoEnd End = ""
)

// Expect is how an object has to end.
type Expect struct {
	End End
	// Reason is that of the condition Failed, where the plan determines it.
	Reason string
	// Vanishes says that the object is deleted by its operator some time after its end.
	Vanishes bool
	// Parts are the ends of a flow's nodes, or of a DaemonJob's nodes. Of what a stop or a failFast cuts off, several are
	// possible.
	Parts map[string]Ends
}

// Ends are one or more ends of a part, of which any will do.
type Ends []PartEnd

// PartEnd is how a part of an object ends, in the words of JobFlow's status.
type PartEnd string

// The ends of parts.
const (
	PartSucceeded PartEnd = "Succeed"
	PartFailed    PartEnd = "Failed"
	PartSkipped   PartEnd = "Skipped"
)
