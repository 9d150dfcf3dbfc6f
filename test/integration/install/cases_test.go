package install

import "strings"

// Who refuses a case first.
const (
	nobody    = ""
	bySchema  = "the CRD's schema and CEL rules"
	byWebhook = "the webhook, or else the plan"
)

// kase is a spec, and who refuses it.
type kase struct{ name, spec, refused string }

const (
	template = `{spec: {restartPolicy: Never, containers: [{name: main, image: none, command: ["true"]}]}}`
	pod      = `{template: ` + template + `}`
	worker   = `Worker: {template: ` + template + `}`
	cluster1 = `size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]`
)

// large is a template with annotations that are more, together, than any object may have.
var large = `{metadata: {annotations: {a: "` + strings.Repeat("x", 256<<10) + `"}}, spec: {restartPolicy: Never, containers: [{name: main, image: none}]}}`

// cases are specs by kind.
var cases = map[string][]kase{
	"JobFlow": {
		{"sound", `{suspend: true, flows: [{name: a, jobTemplate: ` + pod + `}]}`, nobody},
		{"a template that may come later", `{flows: [{name: a, jobTemplateRef: later}]}`, nobody},
		{"no name", `{flows: [{jobTemplate: ` + pod + `}]}`, bySchema},
		{"no template", `{flows: [{name: a}]}`, bySchema},
		{"items twice", `{flows: [{name: a, forEach: {items: [x], fromOutput: b}, jobTemplate: ` + pod + `}]}`, bySchema},
		{"a cycle", `{flows: [{name: a, dependencies: [b], jobTemplate: ` + pod + `}, {name: b, dependencies: [a], jobTemplate: ` + pod + `}]}`, byWebhook},
		{"itself", `{flows: [{name: a, dependencies: [a], jobTemplate: ` + pod + `}]}`, byWebhook},
		{"nobody to wait for", `{flows: [{name: a, dependencies: [b], jobTemplate: ` + pod + `}]}`, byWebhook},
		{"one name twice", `{flows: [{name: a, jobTemplate: ` + pod + `}, {name: a, jobTemplate: ` + pod + `}]}`, byWebhook},
		{"a when that doesn't compile", `{flows: [{name: a, jobTemplate: ` + pod + `}, {name: b, dependencies: [a], when: "nodes.a.", jobTemplate: ` + pod + `}]}`, byWebhook},
		{"a successWhen that doesn't compile", `{successWhen: jobs.b.failed, flows: [{name: a, jobTemplate: ` + pod + `}]}`, byWebhook},
		{"a when that isn't a condition", `{flows: [{name: a, jobTemplate: ` + pod + `}, {name: b, dependencies: [a], when: "jobs.a.output", jobTemplate: ` + pod + `}]}`, byWebhook},
		{"a volume that isn't there", `{flows: [{name: a, shareVolumeMounts: [{name: v, mountPath: /v}], jobTemplate: ` + pod + `}]}`, byWebhook},
		{"a container without a name that can be", `{flows: [{name: a, jobTemplate: {template: {spec: {containers: [{name: "Not A Name", image: none}]}}}}]}`, byWebhook},
		{"a template that is too large", `{flows: [{name: a, jobTemplate: {template: ` + large + `}}]}`, byWebhook},
	},
	"DaemonJob": {
		{"sound", `{suspend: true, template: {spec: {containers: [{name: main, image: none}]}}}`, nobody},
		{"no template", `{}`, bySchema},
		{"a field that isn't honoured", `{manualSelector: true, template: ` + template + `}`, bySchema},
		{"a number without a policy", `{maxFailures: 3, template: ` + template + `}`, bySchema},
		{"a selector that can't be", `{template: {spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}}}, containers: [{name: main, image: none}]}}}`, byWebhook},
		{"a node that can't be", `{excludeNodeList: "a..b", template: ` + template + `}`, byWebhook},
		{"a label that can't be", `{globalParams: {labels: {"a b": c}}, template: ` + template + `}`, byWebhook},
		{"a template that is too large", `{template: ` + large + `}`, byWebhook},
	},
	"ReplicaJob": {
		{"sound", `{runPolicy: {suspend: true}, replicaSpecs: {` + worker + `}}`, nobody},
		{"no replicas", `{replicaSpecs: {}}`, bySchema},
		{"names that differ in case only", `{replicaSpecs: {` + worker + `, worker: {template: ` + template + `}}}`, bySchema},
		{"nobody to wait for", `{replicaSpecs: {Worker: {template: ` + template + `, dependsOn: [{type: PS}]}}}`, bySchema},
		{"a gang larger than the job", `{runPolicy: {schedulingPolicy: {minAvailable: 4}}, replicaSpecs: {` + worker + `, PS: {replicas: 2, template: ` + template + `}}}`, bySchema},
		{"a gang as large as the job", `{runPolicy: {suspend: true, schedulingPolicy: {minAvailable: 3}}, replicaSpecs: {` + worker + `, PS: {replicas: 2, template: ` + template + `}}}`, nobody},
		{"a gang of a job without replicas", `{runPolicy: {suspend: true, schedulingPolicy: {minAvailable: 3}}, replicaSpecs: {PS: {replicas: 0, template: ` + template + `}}}`, nobody},
		{"a cycle", `{replicaSpecs: {A: {template: ` + template + `, dependsOn: [{type: B}]}, B: {template: ` + template + `, dependsOn: [{type: A}]}}}`, byWebhook},
		{"a pattern that is none", `{failurePolicy: {rules: [{action: Ignore, onMessage: "("}]}, replicaSpecs: {` + worker + `}}`, byWebhook},
		{"a field that isn't honoured", `{runPolicy: {schedulingPolicy: {provider: SchedulerPlugins, queue: q}}, replicaSpecs: {` + worker + `}}`, byWebhook},
		{"a template that is too large", `{replicaSpecs: {Worker: {template: ` + large + `}}}`, byWebhook},
	},
	"MiniCluster": {
		{"sound", `{suspend: true, ` + cluster1 + `}`, nobody},
		{"no containers", `{size: 1, containers: []}`, bySchema},
		{"a field that isn't honoured", `{flux: {disableSocket: true}, containers: [{image: none}]}`, bySchema},
		{"more than there may be", `{size: 3, maxSize: 2, containers: [{image: none}]}`, bySchema},
		{"a label that can't be", `{size: 1, jobLabels: {"a b": c}, containers: [{image: none}]}`, byWebhook},
		{"a field that isn't honoured without Flux", `{size: 1, flux: {disable: true, optionFlags: "-o a"}, containers: [{image: none, command: "true"}]}`, byWebhook},
		{"a variable that can't be", `{size: 1, containers: [{image: none, command: "true", environment: {"A=B": c}}]}`, byWebhook},
		{"a command that is ignored", `{suspend: true, size: 1, interactive: true, containers: [{image: none, command: "true"}]}`, nobody},
		{"more tasks than cores", `{size: 1, tasks: 2, containers: [{image: none, command: "true", resources: {limits: {cpu: 1}}}]}`, byWebhook},
		{"a template that is too large", `{pod: {annotations: {a: "` + strings.Repeat("x", 256<<10) + `"}}, ` + cluster1 + `}`, byWebhook},
	},
	"FluxJob": {
		{"sound", `{suspend: true, queue: later, image: none, command: "true"}`, nobody},
		{"a queue that may come later", `{queue: later, miniCluster: {` + cluster1 + `}}`, nobody},
		{"nothing to run", `{queue: later}`, bySchema},
		{"a field that isn't honoured", `{queue: later, miniCluster: {ttlSecondsAfterFinished: 1, ` + cluster1 + `}}`, bySchema},
		{"two sizes", `{queue: later, size: 2, miniCluster: {size: 3, flux: {disable: true}, containers: [{image: none, command: "true"}]}}`, bySchema},
		{"the queue's size, and a quorum", `{suspend: true, queue: later, miniCluster: {minSize: 2, containers: [{image: none, command: "true"}]}}`, nobody},
		{"a size over the quorum", `{suspend: true, queue: later, size: 4, miniCluster: {minSize: 2, containers: [{image: none, command: "true"}]}}`, nobody},
		{"a size under the quorum", `{queue: later, size: 2, miniCluster: {minSize: 3, containers: [{image: none, command: "true"}]}}`, bySchema},
		{"less than nothing", `{queue: later, image: none, resources: {requests: {cpu: "-1"}}}`, byWebhook},
		{"a cluster that can't be", `{queue: ` + openQueue + `, miniCluster: {jobLabels: {"a b": c}, ` + cluster1 + `}}`, byWebhook},
		{"a cluster with a field that isn't honoured", `{queue: ` + openQueue + `, miniCluster: {size: 1, flux: {disable: true, optionFlags: "-o a"}, containers: [{image: none, command: "true"}]}}`, byWebhook},
	},
	"FluxSetup": {
		{"sound", `{quota: {miniClusters: 2}}`, nobody},
		{"nothing", `{}`, nobody},
		{"limits of no cohort", `{borrowingLimit: {pods: 1}}`, bySchema},
		{"no such strategy", `{queueingStrategy: LIFO}`, bySchema},
		{"more than there may be", `{miniCluster: {size: 3, maxSize: 2}}`, bySchema},
		{"a quota of what nothing requests", `{quota: {resources: {gpu: 1}}}`, byWebhook},
		{"a quota below nothing", `{quota: {resources: {cpu: "-1"}}}`, byWebhook},
		{"a limit of what nothing requests", `{cohort: c, lendingLimit: {resources: {pods: 1}}}`, byWebhook},
		{"a selector that can't be", `{namespaceSelector: {matchLabels: {"a b": c}}}`, byWebhook},
		{"limits of priorities", `{preemption: LowerPriority, priorityLimits: [{namespaceSelector: {matchLabels: {a: b}}, max: 9}, {max: -1}]}`, nobody},
		{"a limit that limits nothing", `{priorityLimits: [{namespaceSelector: {matchLabels: {a: b}}}]}`, bySchema},
		{"a limit with a selector that can't be", `{priorityLimits: [{namespaceSelector: {matchLabels: {"a b": c}}, max: 9}]}`, byWebhook},
	},
}

// openQueue is a FluxSetup that admits whatever comes, so that a job's MiniCluster is made.
const openQueue = "admission-open"
